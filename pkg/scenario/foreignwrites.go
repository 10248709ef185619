package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// longestName is how long the name of a namespace, and the value of a label, may be.
const longestName = 63

// ownName is with which the names of a run's objects begin, and what the run's namespace is
// called in an external cluster.
func ownName(run string) string {
	if most := longestName - len(ownPrefix); len(run) > most {
		run = strings.TrimLeft(run[len(run)-most:], "-") // the end has the time
	}
	return ownPrefix + run
}

// objectPrefix begins the names of the objects that the harness writes over and over.
func (r *Runner) objectPrefix() string {
	if r.foreign == nil {
		return r.Run
	}
	return ownName(r.Run)
}

// placed is a workload as it is written to this cluster: to an external one in the run's
// own namespace.
func (r *Runner) placed(w *workload.Workload) *workload.Workload {
	if r.foreign == nil || w.Spec.Namespace == "" {
		return w
	}
	return w.Within(ownName(r.Run))
}

func (r *Runner) allPlaced(all []*workload.Workload) []*workload.Workload {
	out := make([]*workload.Workload, 0, len(all))
	for _, w := range all {
		out = append(out, r.placed(w))
	}
	return out
}

// allow takes the leave of the users of an external cluster; without it nothing is written to
// one.
func (r *Runner) allow() {
	if r.foreign == nil {
		return
	}
	if r.foreign.Lacks(cluster.MeansTraffic) != "" {
		r.NoTraffic = true
		return
	}
	leave := cluster.TrafficLeave{}
	if limited, ok := r.cluster.(cluster.TrafficLimited); ok {
		leave = limited.TrafficLeave()
	}
	r.allowance = workload.NewAllowance(leave.Rate(), leave.Requests(), r.Clock)
}

// writesToForeign is whether objects of the harness are written to an external cluster.
func (r *Runner) writesToForeign() bool { return r.allowance != nil }

// marking has all that is created through a configuration carry the label of the run, also
// after it was replaced, and be removed at its end.
func (r *Runner) marking(config *rest.Config) *rest.Config {
	if r.foreign == nil {
		return config
	}
	config.ContentType = runtime.ContentTypeJSON // which can be marked
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &marker{run: ownName(r.Run), owner: &r.owner, note: r.made.note, next: next}
	})
	return config
}

// marker labels what requests create, gives it to the run's owner, and notes it before they are
// sent. It does so too with what they put in the place of the harness' own objects, which a
// coordinator may have made: the label is how lists find those, and with their owner they go if
// the harness is killed.
type marker struct {
	run string
	// owner has nil until it is made. What is in the run's namespace goes with that anyway.
	owner *atomic.Pointer[metav1.OwnerReference]
	note  func(observe.Call)
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m *marker) RoundTrip(request *http.Request) (*http.Response, error) {
	object, creates := created(request.URL.Path)
	creates = creates && request.Method == http.MethodPost
	if !creates {
		var replaces bool
		if object, replaces = replaced(request); !replaces {
			return m.next.RoundTrip(request)
		}
	}
	if request.Body == nil {
		return m.next.RoundTrip(request)
	}
	raw, err := io.ReadAll(request.Body)
	if err == nil {
		err = request.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read the request before it is sent: %w", err)
	}
	marked, name := m.mark(raw, object)
	if creates && name != "" && object.Namespace != m.run && request.URL.Query().Get("dryRun") == "" {
		object.Name = name
		m.note(object) // what is in the run's namespace goes with that
	}
	out := request.Clone(request.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(marked)), int64(len(marked))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(marked)), nil }
	return m.next.RoundTrip(out)
}

// replaced is in the place of which of the harness' own objects a request puts a whole one; ok is
// false where it does not.
func replaced(request *http.Request) (object observe.Call, ok bool) {
	resource, name := path.Split(request.URL.Path)
	object, whole := created(resource)
	object.Name = name
	return object, request.Method == http.MethodPut && whole && strings.HasPrefix(name, ownPrefix)
}

// mark adds the label and the owner to an object in JSON, and gives its name. What is no such
// object stays as it is.
func (m *marker) mark(raw []byte, as observe.Call) (marked []byte, name string) {
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil {
		return raw, ""
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return raw, ""
	}
	labels, ok := metadata["labels"].(map[string]any)
	if !ok {
		labels = map[string]any{}
	}
	labels[observe.RunLabel] = m.run
	metadata["labels"] = labels
	if owner := m.owner.Load(); owner != nil && as.Namespace != m.run && (as.Resource != ownerResource || as.Name != m.run) {
		metadata["ownerReferences"] = []metav1.OwnerReference{*owner}
	}
	name, _ = metadata["name"].(string)
	out, err := json.Marshal(object)
	if err != nil {
		return raw, name
	}
	return out, name
}

// created is of which resource a request to the path creates an object that lasts; ok is false
// where it creates none. A review is answered and not stored.
func created(path string) (object observe.Call, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		object.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		object.Group, object.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return object, false
	}
	if len(parts) == 3 && parts[0] == namespaces {
		object.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 || strings.HasPrefix(object.Group, "auth") {
		return object, false
	}
	object.Resource = parts[0]
	return object, true
}
