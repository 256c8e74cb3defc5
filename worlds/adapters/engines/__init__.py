"""What runs inside a child process, one module an engine, each with a subclass of `worlds.adapters.engine.Engine`."""
