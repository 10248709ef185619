package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// keysVersion is the apiVersion of an EtcdKeyFault, which is no Chaos Mesh object.
const keysVersion = "evenkeel.dev/v1alpha1"

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

func parseKeys(file string, raw []byte) (*Fault, error) {
	var f keysFile
	if err := strictyaml.DecodeJSON(file, raw, &f); err != nil {
		return nil, err
	}
	keys := cluster.KeyFault{Requests: f.Spec.Requests, Prefixes: f.Spec.Prefixes, Fail: f.Spec.Action == history.FaultKeysFail}
	errs := []error{keys.Validate()}
	if f.APIVersion != keysVersion {
		errs = append(errs, fmt.Errorf("apiVersion is %q, and must be %q", f.APIVersion, keysVersion))
	}
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
		Components: []cluster.Component{cluster.APIServer}, Link: cluster.LinkEtcd, Keys: keys,
	}, errors.Join(errs...)
}

// keyed is the cluster, if it can do something about single keys.
func (e *Executor) keyed() (cluster.EtcdKeyFaultInjector, error) {
	if keyed, ok := e.cluster.(cluster.EtcdKeyFaultInjector); ok {
		return keyed, nil
	}
	return nil, fmt.Errorf("requests to etcd cannot be told apart by their keys: %w", cluster.ErrUnsupported)
}

// hold begins to hold or fail requests. Its witness exists only once the API server has
// sent one: see AwaitMet and witnessKeys.
func (a *Active) hold() error {
	keyed, err := a.executor.keyed()
	if err != nil {
		return err
	}
	stats, err := keyed.KeyFaultStats(a.Member)
	if err != nil {
		return err
	}
	a.metKeys = stats.Met
	a.record(history.PhaseInject, "")
	return keyed.SetKeyFault(a.Member, a.Fault.Keys)
}

// keysMet is how many requests a fault of keys has met since its injection.
func (a *Active) keysMet() (int64, error) {
	keyed, err := a.executor.keyed()
	if err != nil {
		return 0, err
	}
	stats, err := keyed.KeyFaultStats(a.Member)
	return stats.Met - a.metKeys, err
}

// witnessKeys records that the fault bit, if it did: nothing else holds or fails
// requests in the proxy.
func (a *Active) witnessKeys() {
	met, err := a.keysMet()
	if err != nil || met <= 0 {
		return
	}
	verb := "held"
	if a.Fault.Keys.Fail {
		verb = "failed"
	}
	a.tell(history.PhaseWitness, met, fmt.Sprintf("%d requests of %s to its etcd about keys that begin with %s were %s",
		met, a.Member, strings.Join(a.Fault.Keys.Prefixes, " or "), verb))
}

// AwaitMet waits until a fault of keys has met a request, or returns an error when
// the context ends before.
func (a *Active) AwaitMet(ctx context.Context) error {
	for {
		met, err := a.keysMet()
		if err != nil || met > 0 {
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
