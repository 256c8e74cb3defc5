// Without a GPU the browser draws the world on the processor that also plays it: with fewer pixels then, and without
// smoothed edges. A ?fixedDpr= of the person's own stays. Runs before viser's own script asks for its canvas.
(() => {
  "use strict";
  const SOFTWARE_DPR = 0.75;

  function isDrawnInSoftware() {
    const gl = document.createElement("canvas").getContext("webgl");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
  }
  if (isDrawnInSoftware()) {
    const query = new URLSearchParams(location.search);
    if (!query.has("fixedDpr")) {
      query.set("fixedDpr", SOFTWARE_DPR);
      history.replaceState(null, "", `${location.pathname}?${query}`);
    }
    const plain = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      return plain.call(this, kind, /^webgl/.test(kind) ? { ...options, antialias: false } : options);
    };
  }
})();
