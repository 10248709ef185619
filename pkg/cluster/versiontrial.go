package cluster

import "context"

// VersionTrier is a Cluster that can start the program of an API server beside those of its
// members.
type VersionTrier interface {
	// TryVersions starts the program of a member's API server once more, with the arguments
	// that the member's would have at a release, and waits until it has ended. The member is
	// left as it is: its address is taken, so that the program cannot serve. exit says how it
	// ended, and is empty where it had to be ended; log are the last lines that it wrote.
	TryVersions(ctx context.Context, member, release string) (exit string, log []string, err error)
}

// TriesVersions is the ability to start a program with versions that it must refuse.
var TriesVersions = implementing[VersionTrier]("trials of versions", "the provider cannot start a program beside those of its members")
