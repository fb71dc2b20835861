"""Generated cases have no deadline: the machine may be busy."""

from hypothesis import settings

settings.register_profile("lake", deadline=None)
settings.load_profile("lake")
