// What the page shows beside viser's scene and panel: pictures of the goal and the agent, what is pressed, the verdict;
// and what it hears: keys and mouse of a person who plays, clicks and strokes in the goal picture, dropped pictures.
// It talks to the server on a socket of its own, /tab/<id>/hands: JSON both ways, pictures as one tag byte and bytes.
(() => {
  "use strict";
  const drawing = window.mcrlDrawing;
  const MAX_UPLOAD_BYTES = 8 * 1024 * 1024;
  const GOAL_PX = 256;
  const [TAG_GOAL, TAG_MASK, TAG_AGENT, TAG_RIVAL] = [1, 2, 3, 4];
  const DEG_PER_PX = 0.15, ARROW_DEG = 4;
  const PACE_MS = 1000;
  const BEGINNING_MS = 1500;
  const STILL_BEGINNING = "The session begins. Where the engine is compiled for the first time, that takes a minute or two.";
  const COMPILING = "First use: the engine is compiled, in one to two minutes in all. What you asked for comes after it.";
  // Nothing is on Ctrl: with W it closes the page, which no page can prevent.
  const BUTTON_OF = {
    KeyW: "forward", KeyS: "back", KeyA: "left", KeyD: "right", Space: "jump", ShiftLeft: "sneak",
    KeyR: "sprint", KeyF: "attack", KeyE: "use", KeyQ: "drop",
  };
  for (let slot = 1; slot <= 9; slot++) BUTTON_OF["Digit" + slot] = "hotbar." + slot;
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const CAPS = [
    ["forward", "W"], ["left", "A"], ["back", "S"], ["right", "D"], ["jump", "space"], ["sprint", "R"],
    ["sneak", "shift"], ["attack", "attack"], ["use", "use"],
  ];

  // A copied page must not share the session of the one it was copied from: it asks for a session of its own.
  const TAB_KEY = "mcrl" + location.pathname, BEAT_MS = 1000;
  const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
  if (!isReload && Date.now() - Number(localStorage.getItem(TAB_KEY) || 0) < 2 * BEAT_MS) {
    window.stop();
    location.replace("/");
    return;
  }
  const beat = () => localStorage.setItem(TAB_KEY, String(Date.now()));
  beat();
  setInterval(beat, BEAT_MS);
  window.addEventListener("pagehide", () => localStorage.removeItem(TAB_KEY));

  let socket = null, state = {}, held = new Set(), tool = "click", isStroke = false, lastDab = [0, 0], saidTimer = 0;
  let numHeard = 0, server = null;
  const drawn = {};  // by picture: the number of the message that it shows
  const dom = {};

  function element(tag, parent, attributes = {}, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  function view(parent, id, size, empty) {
    const box = element("div", parent, { class: "view", id: id + "-view" });
    dom[id + "Empty"] = element("div", box, { class: "empty" }, empty);
    dom[id] = element("canvas", box, { id: id, width: size, height: size });
    dom[id + "Over"] = element("canvas", box, { id: id + "-over", width: 256, height: 256 });
    return box;
  }

  function build() {
    dom.root = element("div", document.body, { id: "mcrl" });
    const goal = element("div", dom.root, { class: "card" });
    const goalTitle = element("div", goal, { class: "title" });
    element("span", goalTitle, {}, "Goal");
    dom.goalText = element("small", goalTitle, { id: "mcrl-goal-text" });
    dom.goalView = view(goal, "mcrl-goal", GOAL_PX, "Click a block or an animal in the world: it becomes the target.");
    const agent = element("div", dom.root, { class: "card" });
    const agentTitle = element("div", agent, { class: "title" });
    element("span", agentTitle, {}, "Agent");
    dom.agentText = element("small", agentTitle, { id: "mcrl-agent-text" });
    dom.agentView = view(agent, "mcrl-agent", 256, "Press Play in the Run tab to watch the agent.");
    dom.sight = element("div", dom.agentView, { class: "sight", style: "display:none" });
    dom.sightBar = element("div", dom.sight);
    dom.sightText = element("span", dom.sight, { id: "mcrl-sight-text" });
    dom.progress = element("div", element("div", agent, { class: "bar" }));
    const keys = element("div", agent, { class: "keys" });
    dom.caps = CAPS.map(([button, label]) => [button, element("span", keys, { class: "cap", "data-b": button }, label)]);
    dom.facts = element("div", agent, { class: "facts", id: "mcrl-facts" });
    dom.curve = element("canvas", agent, { id: "mcrl-curve", width: 256, height: 44 });
    dom.rivalCard = element("div", dom.root, { class: "card", style: "display:none" });
    dom.rivalText = element("div", element("div", dom.rivalCard, { class: "title" }), { id: "mcrl-rival-text" });
    view(dom.rivalCard, "mcrl-rival", 256, "");
    dom.banner = element("div", document.body, { id: "mcrl-banner" });
    dom.compiling = element("div", document.body, { id: "mcrl-compiling" });
    dom.said = element("div", document.body, { id: "mcrl-said", role: "alert" });
  }

  function send(message) {
    if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  function say(sentence, isFine) {
    dom.said.textContent = sentence;
    dom.said.className = isFine ? "fine" : "";
    clearTimeout(saidTimer);
    saidTimer = setTimeout(() => { dom.said.textContent = ""; }, 9000);
  }

  function connect() {
    const address = location.href.replace(/^http/, "ws").split("?")[0].split("#")[0].replace(/\/?$/, "/hands");
    socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      document.documentElement.dataset.mcrlHands = "open";
      setTimeout(() => {
        if (dom.banner.dataset.outcome === undefined) dom.banner.textContent = STILL_BEGINNING;
      }, BEGINNING_MS);
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") hear(JSON.parse(event.data));
      else show(new Uint8Array(event.data));
    };
    socket.onclose = () => {
      document.documentElement.dataset.mcrlHands = "closed";
      dom.banner.className = "failure";
      dom.banner.textContent = "Connection lost; trying again. The session waits, unless mcrl view was ended.";
      state = {};
      held.clear();
      setTimeout(connect, 1000);
    };
  }

  async function show(bytes) {
    const tag = bytes[0], content = bytes.subarray(1), number = ++numHeard;
    if (tag === TAG_MASK) return drawing.mask(dom["mcrl-goalOver"], content);
    const id = tag === TAG_GOAL ? "mcrl-goal" : tag === TAG_AGENT ? "mcrl-agent" : "mcrl-rival";
    if (content.length === 0) {
      drawn[id] = number;
      dom[id].getContext("2d").clearRect(0, 0, dom[id].width, dom[id].height);
      dom[id + "Empty"].style.display = "";
      if (tag === TAG_GOAL) dom[id + "Over"].getContext("2d").clearRect(0, 0, 256, 256);
      return;
    }
    const bitmap = await createImageBitmap(new Blob([content]));
    if (number < drawn[id]) return bitmap.close();  // decoded while something newer was shown
    drawn[id] = number;
    const canvas = dom[id];
    if (canvas.width !== bitmap.width) canvas.width = canvas.height = bitmap.width;
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    dom[id + "Empty"].style.display = "none";
    canvas.dataset.frames = String(1 + Number(canvas.dataset.frames || 0));
  }

  function hear(message) {
    if (message.said !== undefined) return say(message.said, message.fine);
    if (message.tool !== undefined) { tool = message.tool; return; }
    if (message.compiling !== undefined) { dom.compiling.textContent = message.compiling ? COMPILING : ""; return; }
    if (message.server !== undefined) {
      // A viewer that was started again knows nothing of this page's session, and begins one.
      if (server !== null && server !== message.server) location.reload();
      server = message.server;
      return;
    }
    const wasByHand = state.by_hand;
    state = message;
    dom.root.classList.toggle("by-hand", !!state.by_hand);
    if (wasByHand && !state.by_hand) { held.clear(); document.exitPointerLock(); }
    dom.goalText.textContent = state.goal || "";
    dom.agentText.textContent = state.agent || "";
    dom.banner.textContent = state.banner || "";
    dom.banner.className = state.outcome === "" ? "" : state.outcome === "success" ? "success" : "failure";
    dom.banner.dataset.outcome = state.outcome || "";
    dom.progress.style.width = state.max_ticks ? (100 * state.ticks / state.max_ticks) + "%" : "0";
    const down = new Set(state.buttons || []);
    for (const [button, cap] of dom.caps) cap.classList.toggle("down", down.has(button));
    dom.facts.textContent = state.facts || "";
    dom.rivalCard.style.display = state.rival ? "" : "none";
    dom.root.classList.toggle("pair", Boolean(state.rival));
    dom.rivalText.textContent = state.rival || "";
    showBelief(state.belief);
    drawing.curve(dom.curve, state.values || []);
  }

  // Words and bar are no part of the drawing, which is scaled with the picture: small letters would not be legible.
  function showBelief(belief) {
    drawing.belief(dom["mcrl-agentOver"], belief);
    dom.sight.style.display = belief ? "" : "none";
    if (!belief) return;
    const percent = Math.round(100 * belief.visibility);
    dom.sightBar.style.width = percent + "%";
    dom.sightText.textContent = `sees the target: ${percent} %`;
  }

  // The longest wait for a drawn frame tells the server how often this browser can draw the world anew.
  function watchPace() {
    let last = performance.now(), slowest = 0, told = 0;
    const look = (now) => {
      slowest = Math.max(slowest, now - last);
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    setInterval(() => {
      // A hidden page draws nothing and says nothing.
      if (document.visibilityState === "visible" && Math.abs(slowest - told) > 0.2 * told) {
        told = slowest;
        send({ do: "pace", slowest_ms: slowest });
      }
      slowest = 0;
    }, PACE_MS);
  }

  // ---- what the page hears ----

  const isTyping = (target) => target instanceof HTMLElement && target.closest("input, textarea, select, [role=combobox]");
  const tellKeys = () => send({ do: "keys", held: [...held] });

  function onKey(event, isDown) {
    if (!state.by_hand || isTyping(event.target)) return;
    const button = BUTTON_OF[event.code], arrow = ARROWS[event.code];
    if (!button && !arrow) return;
    // Not for viser, which flies with the same keys.
    event.preventDefault();
    event.stopImmediatePropagation();
    if (arrow) {
      if (isDown) send({ do: "turn", right: ARROW_DEG * arrow[0], down: ARROW_DEG * arrow[1] });
      return;
    }
    if (held.has(button) === isDown) return;
    if (isDown) held.add(button); else held.delete(button);
    tellKeys();
  }

  function listen() {
    window.addEventListener("keydown", (event) => onKey(event, true), true);
    window.addEventListener("keyup", (event) => onKey(event, false), true);
    window.addEventListener("blur", () => { if (held.size) { held.clear(); tellKeys(); } });
    // Who is used to sprint with Ctrl presses it with W: the browser asks before it closes the page.
    window.addEventListener("beforeunload", (event) => { if (state.by_hand) event.preventDefault(); });
    // What the last click was answered with would contradict what the next one brings about. Good news stays until
    // it is clicked on.
    window.addEventListener("pointerdown", (event) => {
      if (event.target === dom.said || !dom.said.classList.contains("fine")) say("", false);
    }, true);
    const agent = dom.agentView, isLocked = () => document.pointerLockElement === agent;
    agent.addEventListener("mousedown", (event) => {
      if (!state.by_hand) return;
      if (!isLocked()) { agent.requestPointerLock(); return; }
      held.add(event.button === 0 ? "attack" : "use");
      tellKeys();
    });
    window.addEventListener("mouseup", (event) => {
      if (held.delete(event.button === 0 ? "attack" : "use")) tellKeys();
    });
    agent.addEventListener("contextmenu", (event) => event.preventDefault());
    agent.addEventListener("mousemove", (event) => {
      if (isLocked()) send({ do: "turn", right: DEG_PER_PX * event.movementX, down: DEG_PER_PX * event.movementY });
    });
    const goal = dom.goalView;
    const place = (event) => {
      const box = goal.getBoundingClientRect();
      return [event.clientY - box.top, event.clientX - box.left].map((at) => Math.floor(at * GOAL_PX / box.width));
    };
    const dab = (event, phase) => {
      const [row, column] = place(event);
      if (row < 0 || column < 0 || row >= GOAL_PX || column >= GOAL_PX) return;
      if (phase === "move" && Math.hypot(row - lastDab[0], column - lastDab[1]) < 3) return;
      lastDab = [row, column];
      send({ do: "goal", tool, row, column, phase });
    };
    goal.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      isStroke = tool !== "click";
      if (isStroke) goal.setPointerCapture(event.pointerId);
      dab(event, "start");
    });
    goal.addEventListener("pointermove", (event) => { if (isStroke && event.buttons & 1) dab(event, "move"); });
    goal.addEventListener("pointerup", () => { isStroke = false; });
    const upload = (file) => {
      if (!file) return;
      if (file.size > MAX_UPLOAD_BYTES - 1024) {
        say(`picture: ${file.name} has ${(file.size / 2 ** 20).toFixed(1)} MB, at most 8 MB are taken; send a smaller one`);
        return;
      }
      file.arrayBuffer().then((content) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(content);
        else say("picture: the connection is lost, so it was not sent; send it again when it is back");
      });
    };
    document.addEventListener("change", (event) => {
      if (event.target.id === "mcrl-upload") { upload(event.target.files[0]); event.target.value = ""; }
    });
    goal.addEventListener("dragover", (event) => event.preventDefault());
    goal.addEventListener("drop", (event) => { event.preventDefault(); upload(event.dataTransfer.files[0]); });
  }

  window.addEventListener("DOMContentLoaded", () => { build(); listen(); connect(); watchPace(); });
})();
