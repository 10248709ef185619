package install

import "time"

const (
	// RivalWait is how long a rival may take to do something about a migration. It
	// does so within a second; in this time the controllers' leader renews its Lease
	// several times, which shows that there was somebody who could have.
	RivalWait = 12 * time.Second
	// rivalLook is the pause between two looks.
	rivalLook = 250 * time.Millisecond
	// CleanUp is how long the removal of what was tried out may take.
	CleanUp = 10 * time.Second
)
