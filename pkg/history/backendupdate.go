package history

// KindBackendUpdate is the kind of a [BackendUpdate].
const KindBackendUpdate Kind = "backendUpdate"

// BackendUpdate is that an aggregated server of the harness hosts something else, as another
// release of it does. API servers learn of that when they ask it next. The event's From is
// when the server was told, and its At when it had changed.
type BackendUpdate struct {
	// Group is that of its APIs.
	Group string `json:"group"`
	// Resources are the plural names of what it hosts from now on in each of its versions.
	Resources []string `json:"resources"`
}
