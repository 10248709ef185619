package fault

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestShippedFaults(t *testing.T) {
	want := map[string]*Fault{
		"apiserver-crash": {Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.APIServer}},
		"apiserver-pause": {Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.APIServer}, Duration: 5 * time.Second},
		"slow-etcd": {Type: TypeNetwork, Action: "delay", Components: []cluster.Component{cluster.APIServer},
			Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: 25 * time.Millisecond}}},
		"slower-etcd": {Type: TypeNetwork, Action: "delay", Components: []cluster.Component{cluster.APIServer},
			Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: 75 * time.Millisecond}}},
		"node-pause": {Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.Whole}, Duration: 5 * time.Second},
		"node-cut-off": {Type: TypeNetwork, Action: "partition", Components: []cluster.Component{cluster.Whole}, Duration: 8 * time.Second,
			Effect: LinkFault{Link: cluster.LinkNode, Shape: cluster.Shape{Cut: true}}},
		"apiserver-freeze": {Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.APIServer}},
		"hold-storage-versions": {Type: TypeKeys, Action: "hold", Components: []cluster.Component{cluster.APIServer}, Prefixes: []string{"/registry/storageversions/"},
			Effect: KeyFault{cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestTxn}, Prefixes: []string{"/registry/storageversions/"}}}},
		"collector-blind": {Type: TypeHTTP, Action: "replace", Components: []cluster.Component{cluster.ControllerManager},
			Effect: HTTPRequests{cluster.HTTPFault{Method: "GET", Path: "/apis/coordination.k8s.io/v1/*leases*", Code: 500, Answers: true}}},
		"collector-unheard": {Type: TypeHTTP, Action: "abort", Components: []cluster.Component{cluster.ControllerManager},
			Effect: HTTPRequests{cluster.HTTPFault{Method: "GET", Path: "/apis/coordination.k8s.io/v1/*leases*", Abort: true}}},
		"collector-slow-deletes": {Type: TypeHTTP, Action: "delay", Components: []cluster.Component{cluster.ControllerManager},
			Effect: HTTPRequests{cluster.HTTPFault{Method: "DELETE", Path: "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/*", Delay: 3 * time.Second}}},
		"controller-manager-crash": {Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.ControllerManager}},
	}
	files, err := fs.Glob(fixtures.Files, "faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := fs.ReadFile(fixtures.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(file, raw)
		if err != nil {
			t.Error(err)
			continue
		}
		if file != "faults/"+got.Name+".yaml" || got.Member != StepMember || got.One == slices.Contains(got.Components, cluster.Whole) {
			t.Errorf("%s: %+v", file, got)
		}
		if expected := want[got.Name]; expected != nil {
			expected.Name, expected.Member, expected.One, expected.Object = got.Name, StepMember, got.One, got.Object
			if !reflect.DeepEqual(got, expected) {
				t.Errorf("%s is\n%+v, want\n%+v", file, got, expected)
			}
		}
	}
}

const (
	pod = `apiVersion: chaos-mesh.org/v1alpha1
kind: PodChaos
metadata: {name: f}
spec:
  mode: one
  selector: {labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}
`
	network = `apiVersion: chaos-mesh.org/v1alpha1
kind: NetworkChaos
metadata: {name: f}
spec:
  mode: one
  selector: {labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}
  target: {mode: one, selector: {labelSelectors: {component: etcd, evenkeel.dev/member: "@member"}}}
`
)

// cutOff has no target and no component, so that a whole member is meant.
const cutOff = `apiVersion: chaos-mesh.org/v1alpha1
kind: NetworkChaos
metadata: {name: f}
spec:
  mode: all
  selector: {labelSelectors: {evenkeel.dev/member: "@member"}}
`

func TestWhatCannotBeCarriedOutIsAnError(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"crash", pod + "  action: container-kill\n  containerNames: [etcd, kube-apiserver]\n", ""},
		{"cut", network + "  action: partition\n  direction: both\n", ""},
		{"jitter", network + "  action: delay\n  direction: both\n  delay: {latency: 5ms, jitter: 1ms}\n", ""},
		{"unknown key", pod + "  action: container-kill\n  containerNamez: [etcd]\n", `f.yaml:8: unknown key "spec.containerNamez"`},
		{"other kind", strings.Replace(pod, "PodChaos", "IOChaos", 1), `"IOChaos" cannot be carried out`},
		{"other API", strings.Replace(pod, "chaos-mesh.org", "example.com", 1), "apiVersion"},
		{"other action", pod + "  action: pod-boil\n", "pod-boil"},
		{"deleted Pod", pod + "  action: pod-kill\n", ""},
		{"deleted Pods of a whole member", strings.Replace(pod, "component: kube-apiserver, ", "", 1) + "  action: pod-kill\n", "must have the label \"component\""},
		{"no container", pod + "  action: container-kill\n", "containerNames must name"},
		{"unknown container", pod + "  action: container-kill\n  containerNames: [kubelet]\n", `"kubelet"`},
		{"pause until it is healed", pod + "  action: pod-failure\n", ""},
		{"pause for nothing", pod + "  action: pod-failure\n  duration: 0s\n", "no positive duration"},
		{"field that is not carried out", pod + "  action: container-kill\n  containerNames: [etcd]\n  gracePeriod: 3\n", "must be left out: spec.gracePeriod"},
		{"duration of a crash", pod + "  action: container-kill\n  containerNames: [etcd]\n  duration: 3s\n", "spec.duration"},
		{"selector by field", strings.Replace(pod, "selector: {", "selector: {fieldSelectors: {a: b}, ", 1) + "  action: container-kill\n  containerNames: [etcd]\n", "spec.selector.fieldSelectors"},
		{"selector by another label", strings.Replace(pod, "component: kube", "tier: x, component: kube", 1) + "  action: pod-failure\n  duration: 1s\n", "tier"},
		{"pause of one Pod of a whole member", strings.Replace(pod, "component: kube-apiserver, ", "", 1) + "  action: pod-failure\n", `spec.mode is "one", and must be "all"`},
		{"pause of a whole member", strings.NewReplacer("component: kube-apiserver, ", "", "mode: one", "mode: all").Replace(pod) + "  action: pod-failure\n", ""},
		{"cut off", cutOff + "  action: partition\n  direction: to\n", ""},
		{"cut off, one Pod of it", strings.Replace(cutOff, "mode: all", "mode: one", 1) + "  action: partition\n  direction: to\n", `spec.mode is "one", and must be "all"`},
		{"cut off both ways", cutOff + "  action: partition\n  direction: both\n", `must be "to": Chaos Mesh has no other`},
		{"delay without a target", cutOff + "  action: delay\n  direction: to\n  delay: {latency: 5ms}\n", "spec.target must select"},
		{"cut off, one component", strings.Replace(cutOff, "{evenkeel", "{component: etcd, evenkeel", 1) + "  action: partition\n  direction: to\n", "spec.target must select"},
		{"no member", strings.Replace(pod, `, evenkeel.dev/member: "@member"`, "", 1) + "  action: pod-failure\n  duration: 1s\n", "evenkeel.dev/member"},
		{"mode by number", strings.Replace(pod, "mode: one", "mode: fixed", 1) + "  action: pod-failure\n  duration: 1s\n", `mode "fixed"`},
		{"annotations", strings.Replace(pod, "name: f", "name: f, annotations: {a: b}", 1) + "  action: pod-failure\n  duration: 1s\n", "metadata.annotations"},
		{"one way", network + "  action: delay\n  direction: to\n  delay: {latency: 5ms}\n", "spec.direction"},
		{"delay without latency", network + "  action: delay\n  direction: both\n", "spec.delay must be set"},
		{"correlation", network + "  action: delay\n  direction: both\n  delay: {latency: 5ms, correlation: \"50\"}\n", "spec.delay.correlation"},
		{"loss", network + "  action: loss\n  direction: both\n  loss: {loss: \"5\"}\n", `spec.action "loss"`},
		{"two actions", network + "  action: delay\n  direction: both\n  delay: {latency: 5ms}\n  loss: {loss: \"5\"}\n", "spec.loss"},
		{"reject", network + "  action: partition\n  direction: both\n  partitionBehavior: reject\n", "reject"},
		{"other link", strings.Replace(network, "component: etcd", "component: kube-scheduler", 1) + "  action: partition\n  direction: both\n", "only the link"},
		{"other member's etcd", strings.Replace(network, `component: etcd, evenkeel.dev/member: "@member"`, `component: etcd, evenkeel.dev/member: "@cp2"`, 1) + "  action: partition\n  direction: both\n", "only the link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(test.in))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v\nwant one with %q", err, test.want)
			}
		})
	}
}
