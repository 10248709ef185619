package chaosmesh

import "time"

// Shorten has an engine wait for less long.
func Shorten(e *Engine, inject, recovered time.Duration) { e.bounds = bounds{inject, recovered} }
