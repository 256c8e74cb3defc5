"""One person's session with the thread that alone touches it, and the browser that shows it while there is one.

What a person does becomes a deed in a queue; the thread does the deeds, lets time pass and draws. A browser may go and
come back: the session waits, paused.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import viser
from websockets.asyncio.server import ServerConnection

from eval.viewer.app_deeds import Deed, Deeds
from eval.viewer.app_hands import Hands
from eval.viewer.app_panel import Panel
from eval.viewer.app_state import page_state, scene_interval_s
from eval.viewer.scene import SceneView
from eval.viewer.scene_place import before_face, behind, blocks, pose_of_camera
from eval.viewer.session import ViewerSession
from worlds.types import Pose

logger = logging.getLogger(__name__)

_IDLE_S = 0.2  # between looks when nothing plays
_PLAYING_S = 0.005
_VIEW_PX = 256  # of the agent's picture in the page


class Booth:
    """A session, its thread, and its browser."""

    def __init__(self, make_session: Callable[[], ViewerSession], opening: Callable[[ViewerSession], None]) -> None:
        """Make the session in the booth's own thread, then do `opening`; a ValueError of it is shown, not raised."""
        self.hands = Hands()
        self.session: ViewerSession
        self.left_at_s: float | None = None
        """When the page was gone, with both of its sockets; None while there is one, or one is on its way."""
        self._deeds = Deeds()
        self._uploaded: deque[bytes] = deque(maxlen=1)  # of 8 MiB: as many as deeds may wait would be 1.6 GiB
        self._newest: viser.ClientHandle | None = None
        self._client: viser.ClientHandle | None = None
        self._view: SceneView | None = None
        self._panel: Panel | None = None
        self._follows, self._brush_px = False, 6.0
        self._shown_goal: object = None
        self._shown_agents: dict[bool, object] = {}  # of the agent, and of the rival
        self._shown_state: dict[str, Any] = {}
        self._scene_at_s = 0.0
        self._scene_every_s = scene_interval_s(0.0)
        self._thread = threading.Thread(target=self._work, args=(make_session, opening), daemon=True, name="booth")
        self._thread.start()

    # ---- from any thread ----

    def do(self, deed: Deed) -> None:
        """Do something in the booth's thread, soon; its ValueError is shown to the person."""
        self._deeds.add(deed)

    def close(self) -> None:
        """End the thread."""
        self._deeds.end()
        self._thread.join(timeout=5.0)

    def attach(self, client: viser.ClientHandle) -> None:
        """Show the session in this browser from now on."""
        self.left_at_s, self._newest = None, client
        self.do(lambda: self._attach(client))

    def detach(self, client: viser.ClientHandle) -> None:
        """Hear that a browser is gone; the session waits."""
        if self._newest is client:
            self._newest = None
            self._note_leaving()
        self.do(lambda: self._detach(client))

    async def serve_hands(self, connection: ServerConnection) -> None:
        """Serve a page's second socket until it is gone; what the page shows and what is held down begin anew."""
        self.do(self._forget_shown)
        self.do(lambda: self.session.pair.let_go())
        try:
            await self.hands.serve(connection, self.hear)
        finally:
            if not self.hands.is_open:
                self.do(lambda: self.session.pair.let_go())
                self._note_leaving()

    def hear(self, message: dict[str, Any] | bytes) -> None:
        """Do what a page says on its second socket."""
        if isinstance(message, bytes):
            if self._uploaded:
                self.say("The picture you sent before was not opened yet; the new one takes its place.")
            self._uploaded.append(message)
            self.do(self._upload)
            return
        match message:
            case {"do": "keys", "held": list(held)}:
                self.do(lambda: self.session.run.hold(str(name) for name in held[:20]))
            case {"do": "turn", "right": int() | float() as right, "down": int() | float() as down}:
                self.do(lambda: self.session.run.turn(float(right), float(down)))
            case {"do": "pace", "slowest_ms": int() | float() as slowest_ms}:
                self.do(lambda: self._keep_pace(float(slowest_ms)))
            case {"do": "goal", "tool": str(tool), "row": int(row), "column": int(column), "phase": str(phase)}:
                self.do(lambda: self._touch_goal(tool, row, column, goes_on=phase == "move"))

    def _note_leaving(self) -> None:
        if self._newest is None and not self.hands.is_open:
            self.left_at_s = time.monotonic()

    # ---- in the booth's thread ----

    @property
    def eye(self) -> Pose:
        """Return the eye of the browser's camera, in blocks."""
        if self._client is None:
            raise ValueError("view: the page is gone; open it again")
        return pose_of_camera(self._client.camera.position, self._client.camera.wxyz)

    def choose_brush(self, tool: str, radius_px: float) -> None:
        """Let the mouse "click", "brush" or "erase" in the goal picture."""
        self._brush_px = radius_px
        self.hands.use_tool(tool)

    def follow(self, is_following: bool) -> None:
        """Let the 3-D camera go with the agent, or leave it where it is."""
        self._follows = is_following

    def jump(self, where: str) -> None:
        """Let the 3-D camera look like the "agent", "behind" it, like the "goal" camera, or from the "sky"."""
        if self._view is None:
            return
        shown = self.session.scene()
        if where == "goal":
            if shown.goal_view is None:
                raise ValueError("view: there is no goal view yet; fly to a view and press Goal from here")
            self._view.jump(shown.goal_view)
        elif where == "agent":
            self._view.jump(before_face(shown.eye))
        elif where == "behind":
            self._view.jump(behind(shown.eye))
        else:
            self._view.jump_to_birds_eye(shown.agent)

    def send_file(self, path: Path) -> None:
        """Let the browser keep a file."""
        if self._client is not None:
            self._client.send_file_download(path.name, path.read_bytes(), save_immediately=True)

    def say(self, sentence: str, *, is_fine: bool = True) -> None:
        """Show a sentence to the person."""
        self.hands.say(sentence, is_fine=is_fine)

    def announce(self, sentence: str) -> None:
        """Show a sentence in the banner for as long as the present deed takes: what keeps a person waiting."""
        self._shown_state = self._shown_state | {"banner": sentence, "outcome": ""}
        self.hands.show_state(self._shown_state)

    def _work(self, make_session: Callable[[], ViewerSession], opening: Callable[[ViewerSession], None]) -> None:
        self.session = make_session()
        self._try(lambda: opening(self.session))
        try:
            self._live()
        finally:
            self.session.close()

    def _live(self) -> None:
        while True:
            is_playing = self.session.pair.is_playing
            has_done = False
            try:
                deed = self._deeds.next(wait_s=_PLAYING_S if is_playing else _IDLE_S)
                while deed is not None:
                    has_done = True
                    self._try(deed)
                    deed = self._deeds.next()
                return
            except queue.Empty:
                pass
            self._try(partial(self._pass_time, has_done=has_done))

    def _try(self, deed: Deed) -> None:
        try:
            with self.session.shared.turn():
                deed()
        except (ValueError, OSError) as error:
            self.hands.say(" ".join(str(error).split()))
        except Exception:
            # A person's session outlives our mistakes; the log keeps them.
            logger.exception("viewer: a step of a session failed")
            self.hands.say("This did not work, and it is not your fault; the log of `mcrl view` says more.")

    def _attach(self, client: viser.ClientHandle) -> None:
        self._client = client
        self._forget_shown()
        # Before the megabytes of the world: where there is a panel to be seen, clicks are heard.
        client.scene.on_click()(lambda event: self.do(lambda: self._click(event)))
        self._view = SceneView(client)
        self._view.update(self.session)
        self._view.jump(self._first_eye())
        self._panel = Panel(self, client.gui)

    def _forget_shown(self) -> None:
        self._shown_goal = None
        self._shown_agents, self._shown_state = {}, {}

    def _first_eye(self) -> Pose:
        shown = self.session.scene()
        is_played = self.session.run.run is not None
        return shown.eye if is_played else shown.eye._replace(y=shown.eye.y + 3.0, pitch_deg=20.0)

    def _detach(self, client: viser.ClientHandle) -> None:
        if self._client is client:
            self.session.pair.pause()
            self._client = self._view = self._panel = None

    def _keep_pace(self, slowest_ms: float) -> None:
        self._scene_every_s = scene_interval_s(slowest_ms)

    def _upload(self) -> None:
        if not self._uploaded:
            return  # a newer one took its place, and was opened
        self.session.goal.upload(self._uploaded.pop())
        self.say("Your picture is the goal now: click or brush what the agent shall find in it.")

    def _touch_goal(self, tool: str, row: int, column: int, *, goes_on: bool) -> None:
        if tool == "click":
            self.session.goal.click_goal(row, column)
        else:
            is_eraser = tool == "erase"
            self.session.goal.paint(row, column, radius_px=self._brush_px, is_eraser=is_eraser, goes_on=goes_on)

    def _click(self, event: viser.SceneClickEvent) -> None:
        origin, direction = blocks(event.ray_origin), event.ray_direction
        if self._panel is None or self._view is None:
            return
        use, ground, session = self._panel.click_use, self._view.ground, self.session
        session.check_click()
        if use == "start":
            session.goal.place_start(session.hit(origin, direction, ground=ground), yaw_deg=self.eye.yaw_deg)
        elif use == "object":
            session.goal.add_object(self._panel.object_kind, session.hit(origin, direction, ground=ground))
        elif use == "away":
            session.take_away(origin, direction, ground=ground)
        else:
            session.click(origin, direction, eye=self.eye, ground=ground)
        if session.run.run is not None and session.run.run.is_over:
            session.leave()

    def _pass_time(self, *, has_done: bool) -> None:
        now_s = time.monotonic()
        num_ticks = self.session.tick(now_s) if self._client is not None else 0
        if self._client is None or self._view is None or self._panel is None:
            return
        if self._client is not self._newest:  # it is gone, and what comes after it has not been heard of yet
            return
        self._view.watch_camera()
        if num_ticks or has_done:
            self._show_agents()
        if has_done or (num_ticks and now_s - self._scene_at_s >= self._scene_every_s):
            self._scene_at_s = now_s
            self._view.update(self.session)
            if self._follows and self.session.run.run is not None:
                self._view.jump(behind(self.session.run.run.eye))
        if has_done or num_ticks:
            self._show_goal()
            state = page_state(self.session)
            if state != self._shown_state:
                self._shown_state = state
                self.hands.show_state(state)
            self._panel.update()

    def _show_agents(self) -> None:
        session = self.session
        for control, is_rival in ((session.run, False), (session.rival, True)):
            run = control.run
            key = None if run is None else (id(run), run.ticks)
            if key == self._shown_agents.get(is_rival) and not (key is None and not is_rival and not self._shown_state):
                continue
            self._shown_agents[is_rival] = key
            self.hands.show_agent(None if run is None else control.view((_VIEW_PX, _VIEW_PX)), is_rival=is_rival)

    def _show_goal(self) -> None:
        assert self._view is not None
        draft = self.session.goal.draft
        if self._shown_goal is draft:
            return
        self._shown_goal = draft
        if draft.goal_view is None and draft.picture is None:
            self.hands.show_goal(None, None)
            self._view.draw_goal_camera(None, None, draft.look.fov_deg)
            return
        view = self.session.goal.view()
        self.hands.show_goal(view.image_HWC, view.mask_HW)
        self._view.draw_goal_camera(draft.goal_view, view.image_HWC, draft.look.fov_deg)
