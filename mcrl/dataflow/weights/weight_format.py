"""What is sent of new weights. Apart from those who send it, so that settings are read without torch."""

from typing import Literal

# "whole" sends every value; "delta" the difference to the version before, about half the bytes and exact as well
# (mcrl.dataflow.weights.weight_delta), to receivers that have that version.
WeightFormat = Literal["whole", "delta"]
