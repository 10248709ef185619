package install

import "time"

const (
	// RivalWait is how long another migrator may take to write the status of a migration.
	// It does so within a second. In this time the leader of kube-controller-manager renews
	// its Lease several times, which shows that it could have acted.
	RivalWait = 12 * time.Second
	// rivalLook is the pause between two looks.
	rivalLook = 250 * time.Millisecond
	// CleanUp is how long the removal of the trial migration may take.
	CleanUp = 10 * time.Second
)
