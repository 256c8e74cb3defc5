// What app_page.js draws over pictures and below them: the mask of a goal, what a policy believes, and its values.
window.mcrlDrawing = (() => {
  "use strict";
  const GOAL_PX = 256;

  // One bit a pixel, row by row, as numpy packs them. The border of the mask is drawn brighter than its inside.
  function mask(canvas, bits) {
    const over = canvas.getContext("2d"), picture = over.createImageData(GOAL_PX, GOAL_PX);
    const isIn = (row, column) => row >= 0 && column >= 0 && row < GOAL_PX && column < GOAL_PX &&
      (bits[(row * GOAL_PX + column) >> 3] >> (7 - ((row * GOAL_PX + column) & 7))) & 1;
    for (let row = 0; row < GOAL_PX; row++) for (let column = 0; column < GOAL_PX; column++) {
      if (!isIn(row, column)) continue;
      const isEdge = [[0, 1], [1, 0], [0, -1], [-1, 0], [0, 2], [2, 0], [0, -2], [-2, 0]]
        .some(([down, right]) => !isIn(row + down, column + right));
      picture.data.set([255, 225, 40, isEdge ? 255 : 90], 4 * (row * GOAL_PX + column));
    }
    over.putImageData(picture, 0, 0);
  }

  // Where a policy sees its target; null clears, and one that sees it less than half draws nothing.
  function belief(canvas, belief) {
    const over = canvas.getContext("2d");
    over.clearRect(0, 0, 256, 256);
    if (!belief || belief.visibility < 0.5) return;
    const [left, top, right, bottom] = belief.box.map((side) => 256 * side), [x, y] = belief.centre;
    over.strokeStyle = over.fillStyle = "#ffe128";
    over.lineWidth = 2;
    over.strokeRect(left, top, Math.max(2, right - left), Math.max(2, bottom - top));
    over.beginPath();
    over.arc(256 * x, 256 * y, 3, 0, 7);
    over.fill();
  }

  function curve(canvas, values) {
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, 256, 44);
    canvas.style.display = values.length > 1 ? "block" : "none";
    if (values.length < 2) return;
    const low = Math.min(0, ...values), high = Math.max(0.1, ...values);
    const x = (i) => 256 * i / (values.length - 1), y = (value) => 41 - 30 * (value - low) / (high - low);
    pen.strokeStyle = "#40beff";
    pen.lineWidth = 1.5;
    pen.beginPath();
    values.forEach((value, i) => (i ? pen.lineTo(x(i), y(value)) : pen.moveTo(x(i), y(value))));
    pen.stroke();
    pen.fillStyle = "#9fb2bd";
    pen.font = "10px system-ui, sans-serif";
    pen.fillText(`value ${values[values.length - 1].toFixed(2)} (expected reward)`, 2, 9);
  }

  return { mask, belief, curve };
})();
