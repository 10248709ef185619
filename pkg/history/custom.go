package history

// KindCustomResourceAnswer is the kind of a CustomResourceAnswer.
const KindCustomResourceAnswer Kind = "customResourceAnswer"

// CustomResourceAnswer is what an API server answered to a list of a custom resource while it
// started: from the first connection that it accepted until a while after it was ready.
// The CustomResourceDefinition was established before the API server's process started.
//
// Answers that are alike are one event, which is recorded when another one follows, after
// at most a second, and when the recorder ends. The event's Member is who answered, its
// From is when the first of the requests was sent, and At is when the last was answered or
// a little later.
type CustomResourceAnswer struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
	// Instance is the number of the API server's process, as in Process.
	Instance int `json:"instance"`
	// Ready is the status that the same API server answered to /readyz right before each of
	// the requests: where that is 200, it had called itself ready already. 0 when no answer
	// came.
	Ready int `json:"ready,omitempty"`
	// Code is the HTTP status; 0 when no answer came, and Error says why.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	// Count is how many answers the event stands for.
	Count int `json:"count"`
}
