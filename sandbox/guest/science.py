"""scipy, where it is installed, for code that tells of it."""
import sys


def refuse_qhull():
    """It writes its messages to a file of the system, and crashes where there is none."""
    qhull = sys.modules.get("scipy.spatial._qhull")

    def refuse(self, *args, **words):
        raise NotImplementedError("scipy.spatial.%s (and interpolation of scattered points by "
                                  "triangles) does not run in the jail; method='nearest', "
                                  "RBFInterpolator, cKDTree and matplotlib.tri do"
                                  % type(self).__name__)

    for name in ("Delaunay", "ConvexHull", "Voronoi", "HalfspaceIntersection"):
        if qhull and hasattr(qhull, name):
            getattr(qhull, name).__init__ = refuse


def prepare(names):
    """In the zygote."""
    for name in names:
        try:
            __import__(name)
        except ImportError:
            pass  # it is not here
    refuse_qhull()
