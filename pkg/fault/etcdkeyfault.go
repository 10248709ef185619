package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// TypeKeys is a fault of requests to etcd about single keys, which Chaos Mesh does not know.
const TypeKeys = history.FaultKeys

var _ = Register(Kind{
	Type: TypeKeys, APIVersion: ownVersion, Parse: reading(fromKeysFile),
	Doc: "Holds or fails requests of a member's API server to its etcd, by the keys that they are about. Chaos Mesh has no kind for this.",
	Actions: []Action{
		keysAction(history.FaultKeysHold, "Leaves the requests unanswered until the fault is healed; they go on then, unless the API server has given them up."),
		keysAction(history.FaultKeysFail, "Answers the requests that etcd is not available."),
	},
})

func keysAction(name, doc string) Action {
	return Action{
		Name: name, Doc: doc, Witness: "the proxy before etcd counts the requests that it held or failed", Cost: time.Second,
		Parameters: []registry.Parameter{{
			Name: "requests", Path: []string{"spec", "requests"}, Doc: "are the requests that are met; API servers write by txn only",
			Domain: registry.OneOf(cluster.RequestTxn, cluster.RequestRange, cluster.RequestPut, cluster.RequestDelete).List(1, 4),
		}, {
			Name: "prefixes", Path: []string{"spec", "prefixes"}, Doc: "are prefixes of the keys that the requests are about",
			Domain: registry.AnyText("/registry/leases/kube-system/apiserver-", "/registry/leases/kube-system/kube-controller-manager", "/registry/leases/kube-system/leader-election-controller",
				"/registry/leasecandidates/", "/registry/storageversions/", "/registry/storageversionmigrations/",
				"/registry/configmaps/", "/registry/apiextensions.k8s.io/customresourcedefinitions/", "/registry/apiregistration.k8s.io/apiservices/").List(1, 4),
		}, {
			Name: "member", Path: []string{"spec", "member"}, Optional: true, Domain: memberDomain, Doc: memberParameter.Doc,
		}},
		Object: func(registry.Values) map[string]any {
			return map[string]any{"spec": map[string]any{"action": name, "member": StepMember}}
		},
	}
}

// keysFile is what a file says of a fault of keys.
type keysFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		// Action is hold or fail.
		Action string `json:"action"`
		// Member is a selector, or StepMember.
		Member string `json:"member"`
		// Requests of the member's API server, and Prefixes of the keys that they are
		// about.
		Requests []cluster.KeyRequest `json:"requests"`
		Prefixes []string             `json:"prefixes"`
	} `json:"spec"`
}

func fromKeysFile(f *keysFile) (*Fault, error) {
	keys := cluster.KeyFault{Requests: f.Spec.Requests, Prefixes: f.Spec.Prefixes, Fail: f.Spec.Action == history.FaultKeysFail}
	errs := []error{keys.Validate()}
	if f.Spec.Action != history.FaultKeysHold && f.Spec.Action != history.FaultKeysFail {
		errs = append(errs, fmt.Errorf("spec.action %q cannot be carried out; %s and %s can", f.Spec.Action, history.FaultKeysHold, history.FaultKeysFail))
	}
	if keys.None() {
		errs = append(errs, errors.New("spec.requests and spec.prefixes are missing"))
	}
	if f.Spec.Member == "" {
		errs = append(errs, fmt.Errorf("spec.member must be %q, or a member", StepMember))
	}
	return &Fault{
		Name: f.Metadata.Name, Type: TypeKeys, Action: f.Spec.Action, Member: f.Spec.Member, One: true,
		Components: []cluster.Component{cluster.APIServer}, Prefixes: keys.Prefixes, Effect: KeyFault{keys},
	}, errors.Join(errs...)
}

// KeyFault holds or fails requests to etcd by their keys.
type KeyFault struct{ cluster.KeyFault }

// Does implements Effect.
func (k KeyFault) Does() Does {
	if k.Fail {
		return Fails
	}
	return Holds
}

// Needs implements Effect.
func (KeyFault) Needs(*Fault) []cluster.Ability { return []cluster.Ability{cluster.FaultsKeys} }

// Inject implements Effect: requests are held or failed from then on. Its witness exists only
// once the API server has sent one.
func (k KeyFault) Inject(_ context.Context, a *Active) (*Injection, error) {
	keyed, ok := a.executor.cluster.(cluster.EtcdKeyFaultInjector)
	if !ok {
		return nil, fmt.Errorf("requests to etcd cannot be told apart by their keys: %w", cluster.ErrUnsupported)
	}
	before, err := keyed.KeyFaultStats(a.Member)
	if err != nil {
		return nil, err
	}
	// met is how many requests it has met since its injection.
	met := func() (int64, error) {
		now, err := keyed.KeyFaultStats(a.Member)
		return now.Met - before.Met, err
	}
	a.Injected()
	return &Injection{
		Ending: func(context.Context) error {
			met, err := met()
			if err == nil && met < 0 {
				return errForgotten
			}
			if err == nil && met > 0 {
				a.Witness(met, k.proof(met, a.Member)) // nothing else holds or fails requests in the proxy
			}
			return nil
		},
		Remove: func(context.Context) error { return keyed.SetKeyFault(a.Member, cluster.KeyFault{}) },
		Met:    func(ctx context.Context, came, _ int) error { return a.awaitCount(ctx, met, int64(came)) },
	}, keyed.SetKeyFault(a.Member, k.KeyFault)
}

func (k KeyFault) proof(met int64, member string) string {
	verb := "held"
	if k.Fail {
		verb = "failed"
	}
	return fmt.Sprintf("%d requests of %s to its etcd about keys that begin with %s were %s", met, member, strings.Join(k.Prefixes, " or "), verb)
}

// awaitCount waits until a count is high enough, or returns an error when the context ends before.
func (a *Active) awaitCount(ctx context.Context, count func() (int64, error), enough int64) error {
	for {
		now, err := count()
		if err != nil || now >= enough {
			return err
		}
		timer := a.executor.clock.NewTimer(LookInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}
