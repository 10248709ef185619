package kubernetes

import (
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Flags are those of a binary that the harness depends on: what switches the
// features under test on at this release, and what keeps the evidence.
func (r Release) Flags(binary string) map[string]string {
	flags := map[string]string{"feature-gates": r.Gates(binary)}
	if r.emulated != "" {
		flags["emulated-version"] = r.emulated
	}
	if r.compatible != "" {
		flags["min-compatibility-version"] = r.compatible
	}
	if binary == APIServer {
		flags["runtime-config"] = strings.Join(r.RuntimeConfig, ",")
		// Compaction would take from the recorder what it has not read yet.
		flags["etcd-compaction-interval"] = "0"
		// Without it a server that is asked to end waits for its clients to close
		// their watches, longer than any service manager would.
		flags["shutdown-watch-termination-grace-period"] = "1s"
		if r.shutdownDelay > 0 {
			flags["shutdown-delay-duration"] = r.shutdownDelay.String()
		}
		if r.withoutWatchCache {
			flags["watch-cache"] = "false"
		}
	}
	return flags
}

// MigratorController is what Kubernetes calls its own storage version migrator, in
// full; all releases know that name, whether the feature is on or not.
const MigratorController = "storage-version-migrator-controller"

// classProtector adds a finalizer to VolumeAttributesClasses, and again whenever a
// client has replaced one without it. Scenarios migrate these, and what is written to
// them without a client's tag while they are migrated counts as the migration's.
const classProtector = "volumeattributesclass-protection-controller"

// Controllers are what kube-controller-manager is to run where kubeadm starts it: those
// that kubeadm chooses, without the one that would write to objects under test, and
// without Kubernetes' own migrator where another one is installed as a workload.
func Controllers(settings cluster.Settings) string {
	controllers := "*,bootstrapsigner,tokencleaner,-" + classProtector
	if settings.WorkloadMigrator {
		controllers += ",-" + MigratorController
	}
	return controllers
}

// MigratorFlags are those by which kube-controller-manager takes the limit for its
// migrator, if the topology sets one. It has no flag of its own: its client for that is
// allowed migratorShare times what every other one is.
func MigratorFlags(settings cluster.Settings) map[string]string {
	if settings.MigrationRate == 0 {
		return nil
	}
	return map[string]string{"kube-api-qps": strconv.FormatFloat(settings.MigrationRate/migratorShare, 'f', -1, 64)}
}

const migratorShare = 20

// ElectionFlags are those by which the elected components take a topology's
// settings; those without a value are left out, so that the default holds.
func ElectionFlags(settings cluster.Settings) map[string]string {
	flags := map[string]string{}
	for name, value := range map[string]cluster.Duration{
		"leader-elect-lease-duration": settings.LeaderElectLeaseDuration,
		"leader-elect-renew-deadline": settings.LeaderElectRenewDeadline,
		"leader-elect-retry-period":   settings.LeaderElectRetryPeriod,
	} {
		if value > 0 {
			flags[name] = value.String()
		}
	}
	return flags
}
