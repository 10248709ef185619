package history

// KindVersionTrial is the kind of a VersionTrial.
const KindVersionTrial Kind = "versionTrial"

// VersionTrial is a start of the program of a member's API server beside the member's own, with
// versions to emulate and to be compatible with. It cannot serve, since the other one has its
// address: what it says of its flags is what it is started for. The event lasts from the start
// to the end of the program.
type VersionTrial struct {
	// Release is what the program was told to play, in the notation of a member's release,
	// such as "v1.37.1 emulating 1.38".
	Release string `json:"release"`
	// Exit says how it ended, in words; empty where it had not when the harness ended it.
	Exit string `json:"exit,omitempty"`
	// Log are the last lines that it wrote, with credentials masked.
	Log []string `json:"log,omitempty"`
}
