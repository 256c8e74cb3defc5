"""A session before anyone is let in: what does not fit is said at once, and what takes time is there for all."""

from collections.abc import Callable

from eval.viewer.mesh import MeshStyle, WorldMesh
from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared


def rehearse(shared: Shared, opening: Callable[[ViewerSession], None]) -> None:
    """Make the world, meshes and policy that every new session begins with.

    Raises:
        ValueError: `opening` found nothing to open.
    """
    session = ViewerSession(shared)
    try:
        opening(session)
        terrain = session.engine.state.terrain
        style = MeshStyle.of_look(session.shown.look)
        mesh = WorldMesh(terrain.block_EXZY[0], terrain.field_EXZY[0], style, store=shared.meshes)
        for chunk in mesh.chunk_indices:
            mesh.glb(chunk)
    finally:
        session.close()
