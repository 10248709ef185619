package workload

import (
	"context"
	"net/url"
	"sync/atomic"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// Probes makes the requests that the harness sends to a booting member: for each workload a
// stream of guarded writes, one stream of other kinds of writes, and one probe for each
// class of request that must pass while the server holds those back. It leaves out the
// classes whose prerequisites the control plane does not have.
func Probes(workloads []*Workload, prerequisites *Prerequisites, run, member string, tagger *Tagger, clk clock.PassiveClock) []observe.Probe {
	var probes []observe.Probe
	for _, w := range workloads {
		if w.Spec.class() == history.ClassGuarded {
			source := NewSource(w, run, member, "h", tagger, clk)
			source.watched = true
			probes = append(probes, observe.Probe{
				Interval: observe.HammerInterval,
				Begin:    source.Reset,
				Step:     func(ctx context.Context, client *observe.Client) { source.Write(ctx, client) },
			})
		}
	}
	for _, class := range []struct {
		workload *Workload
		ready    *atomic.Bool
	}{
		{customWorkload().Within(prerequisites.namespace()), &prerequisites.custom},
		{aggregatedWorkload().Within(prerequisites.namespace()), &prerequisites.aggregated},
	} {
		source := NewSource(class.workload, run, member, "h", tagger, clk)
		// The group is asked for at every boot; a server that has just begun
		// may not have it yet, and the request must be sent all the same.
		source.versions = []string{"v1"}
		probes = append(probes, observe.Probe{
			Interval: observe.HammerClassInterval,
			Step: func(ctx context.Context, client *observe.Client) {
				if class.ready.Load() {
					source.Write(ctx, client)
				}
			},
		})
	}
	return append(probes, otherWritesProbe(prerequisites.namespace(), &prerequisites.aggregated), readProbe(prerequisites.namespace()), reviewProbe())
}

// otherWritesProbe sends writes of the kinds that no workload has: of a
// collection in which nothing is selected, and of a subresource of an object of
// the prerequisites, by a patch without content. A server that lets them pass
// changes nothing, and has not held them back.
func otherWritesProbe(namespace string, registered *atomic.Bool) observe.Probe {
	turn := 0
	return observe.Probe{
		Interval: observe.HammerClassInterval,
		Step: func(ctx context.Context, client *observe.Client) {
			call := observe.Call{Class: history.ClassGuarded, Verb: "deletecollection", Version: "v1", Resource: "configmaps", Namespace: namespace,
				Query: url.Values{"labelSelector": {nothingSelected}}}
			if turn++; turn%2 == 0 && registered.Load() {
				call = observe.Call{Class: history.ClassGuarded, Verb: "patch", Group: registrationGroup, Version: "v1", Resource: "apiservices",
					Subresource: "status", Name: backendRegistration, Body: map[string]any{}}
			}
			client.Do(ctx, call)
		},
	}
}

// nothingSelected is a label that no object has.
const nothingSelected = "evenkeel.dev/none=selected"

func readProbe(namespace string) observe.Probe {
	turn := 0
	return observe.Probe{
		Interval: observe.HammerClassInterval,
		Step: func(ctx context.Context, client *observe.Client) {
			call := observe.Call{Class: history.ClassRead, Verb: "list", Version: "v1", Resource: "configmaps", Namespace: namespace,
				Query: url.Values{"limit": {"1"}}}
			if turn++; turn%2 == 0 {
				call = observe.Call{Class: history.ClassRead, Verb: "get", Version: "v1", Resource: "namespaces", Name: namespace}
			}
			client.Do(ctx, call)
		},
	}
}

func reviewProbe() observe.Probe {
	const group, version, kind = "authorization.k8s.io", "v1", "SubjectAccessReview"
	body := map[string]any{
		"apiVersion": group + "/" + version, "kind": kind,
		"spec": map[string]any{
			"user":                  "evenkeel-probe",
			"nonResourceAttributes": map[string]any{"path": "/version", "verb": "get"},
		},
	}
	return observe.Probe{
		Interval: observe.HammerClassInterval,
		Step: func(ctx context.Context, client *observe.Client) {
			client.Do(ctx, observe.Call{Class: history.ClassReview, Verb: "create", Group: group, Version: version,
				Resource: "subjectaccessreviews", Body: body})
		},
	}
}
