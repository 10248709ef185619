package fault

import (
	"reflect"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Each fault that can be composed of swept values must be read again, with what it does.
func TestEntries_ComposeFaultsThatParse(t *testing.T) {
	for _, entry := range Entries() {
		if entry.Doc == "" || entry.Witness == "" {
			t.Errorf("%s does not say what it does, or what its witness is", entry.Name)
		}
		for _, p := range entry.Parameters {
			if p.Doc == "" {
				t.Errorf("%s.%s has no doc", entry.Name, p.Name)
			}
			for _, value := range p.Domain.Values {
				values := entry.Least()
				values[p.Name] = value
				if p.Domain.Many {
					values[p.Name] = []any{value}
				}
				raw, err := entry.Compose("f", values)
				if err != nil {
					t.Errorf("%s with %s %v: %v", entry.Name, p.Name, value, err)
					continue
				}
				fault, err := Parse("f", raw)
				if err != nil {
					t.Fatal(err)
				}
				if got := fault.Type + "/" + fault.Action; got != entry.Name || fault.Name != "f" || len(fault.Needs()) == 0 {
					t.Errorf("%s is read as %+v", entry.Name, fault)
				}
				if entry.Cost(values) <= 0 || len(entry.Abilities(values)) == 0 {
					t.Errorf("%s says neither what it costs nor what it needs", entry.Name)
				}
			}
		}
	}
}

// What is given must be in the fault.
func TestEntries_ComposeHasEachParameterTakeEffect(t *testing.T) {
	entries := map[string]registry.Entry{}
	for _, entry := range Entries() {
		entries[entry.Name] = entry
	}
	for _, tc := range []struct {
		entry  string
		values registry.Values
		want   *Fault
	}{
		{"PodChaos/pod-failure", registry.Values{"member": "@cp2", "duration": time.Second}, &Fault{
			Member: "@cp2", Components: []cluster.Component{cluster.Whole}, Duration: time.Second, Effect: Freeze{}}},
		{"NetworkChaos/delay", registry.Values{"member": "@leader", "latency": time.Second, "jitter": 5 * time.Millisecond}, &Fault{
			Member: "@leader", One: true, Components: []cluster.Component{cluster.APIServer},
			Effect: LinkFault{cluster.LinkEtcd, cluster.Shape{Latency: time.Second, Jitter: 5 * time.Millisecond}}}},
		{"NetworkChaos/partition", registry.Values{"whole": true}, &Fault{
			Member: StepMember, Components: []cluster.Component{cluster.Whole}, Effect: LinkFault{cluster.LinkNode, cluster.Shape{Cut: true}}}},
		{"HTTPChaos/replace", registry.Values{"component": "kube-scheduler", "code": 503, "every": 10, "method": "PUT"}, &Fault{
			Member: StepMember, One: true, Components: []cluster.Component{cluster.Scheduler},
			Effect: HTTPRequests{cluster.HTTPFault{Method: "PUT", Code: 503, Answers: true, Every: 10}}}},
		{"EtcdKeyFault/fail", registry.Values{"requests": []string{"txn"}, "prefixes": []string{"/registry/x"}}, &Fault{
			Member: StepMember, One: true, Components: []cluster.Component{cluster.APIServer}, Prefixes: []string{"/registry/x"},
			Effect: KeyFault{cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestTxn}, Prefixes: []string{"/registry/x"}, Fail: true}}}},
	} {
		t.Run(tc.entry, func(t *testing.T) {
			raw, err := entries[tc.entry].Compose("f", tc.values)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse("f", raw)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Name, tc.want.Type, tc.want.Action = "f", got.Type, got.Action
			if meshed := got.Object != nil; meshed != (got.Type == TypePod || got.Type == TypeNetwork) {
				t.Errorf("it has an object for Chaos Mesh: %v", meshed)
			}
			got.Object = nil
			if got.Type+"/"+got.Action != tc.entry || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s\nis %+v\nwant %+v", raw, got, tc.want)
			}
		})
	}
	if _, err := entries["HTTPChaos/replace"].Compose("f", registry.Values{"component": "kube-scheduler", "code": 200}); err == nil {
		t.Error("a status of success is put in the place of an answer")
	}
}
