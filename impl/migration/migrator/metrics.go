package migrator

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const subsystem = "storage_migration"

var (
	objectsDone = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "objects_total", StabilityLevel: metrics.ALPHA,
		Help: "Objects that a migration has dealt with, by outcome: written, overtaken by another write, gone, or refused.",
	}, []string{"group", "resource", "outcome"})
	objectsRemaining = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "remaining_objects", StabilityLevel: metrics.ALPHA,
		Help: "Objects that the migration under way has yet to deal with, as the server estimates.",
	}, []string{"group", "resource"})
	migrationsDone = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "migrations_total", StabilityLevel: metrics.ALPHA,
		Help: "Migrations that have ended, by the reason of their outcome.",
	}, []string{"group", "resource", "reason"})
	workerRunning = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "worker_running", StabilityLevel: metrics.ALPHA,
		Help: "1 while a worker of this process is migrating a resource, 0 otherwise.",
	})
	paceRate = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "writes_per_second", StabilityLevel: metrics.ALPHA,
		Help: "Single-object writes a second that the migrator allows itself at present.",
	})
	retrying = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "retrying_seconds", StabilityLevel: metrics.ALPHA,
		Help: "For how long the migrator has tried something that fails; absent when nothing fails.",
	}, []string{"what"})

	registerMetrics = sync.OnceFunc(func() {
		legacyregistry.MustRegister(objectsDone, objectsRemaining, migrationsDone, workerRunning, paceRate, retrying)
	})
)
