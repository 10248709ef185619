package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// chaosVersion is the apiVersion of Chaos Mesh's kinds, and ownVersion that of Evenkeel's.
var chaosVersion = chaos.SchemeGroupVersion.String()

const ownVersion = "evenkeel.dev/v1alpha1"

// componentLabel is what kubeadm labels the Pods of its components with.
const componentLabel = "component"

// containers names the components as kubeadm does.
var containers = map[string]cluster.Component{
	"etcd":                    cluster.Etcd,
	"kube-apiserver":          cluster.APIServer,
	"kube-controller-manager": cluster.ControllerManager,
	"kube-scheduler":          cluster.Scheduler,
}

// selecting is the selector of a fault's Pods. Without a component it means all of a member.
func selecting(component string) map[string]any {
	labels := map[string]any{MemberLabel: StepMember}
	if component != "" {
		labels[componentLabel] = component
	}
	return map[string]any{"namespaces": []any{"kube-system"}, "labelSelectors": labels}
}

// The parameters that kinds of Chaos Mesh have in common.
var (
	memberParameter = registry.Parameter{
		Name: "member", Path: []string{"spec", "selector", "labelSelectors", MemberLabel}, Optional: true, Domain: memberDomain,
		Doc: "selects the member; the default " + StepMember + " is the member that the step names",
	}
	durationParameter = registry.Parameter{
		Name: "duration", Path: []string{"spec", "duration"}, Optional: true,
		Doc: "is how long the fault lasts; a step that says so itself takes only faults without it",
		Domain: registry.Between(100*time.Millisecond, 5*time.Minute,
			100*time.Millisecond, time.Second, 5*time.Second, 16*time.Second, 40*time.Second),
	}
	memberDomain = registry.Domain{Type: registry.Member, Values: append([]any{StepMember}, registry.SomeMembers().Values...)}
)

// allOf is an error if a mode would leave out a part of a whole member, which
// is several Pods to Chaos Mesh.
func allOf(mode chaos.SelectorMode) error {
	if mode == chaos.AllMode {
		return nil
	}
	return fmt.Errorf("spec.mode is %q, and must be %q where the selector has no %q: a whole member is several Pods", mode, chaos.AllMode, componentLabel)
}

// selected reads which component and member are meant, and takes what it read
// out of the selector.
func selected(pods *chaos.PodSelector) (component cluster.Component, member string, err error) {
	var errs []error
	labels := maps.Clone(pods.Selector.LabelSelectors)
	if name, ok := labels[componentLabel]; ok {
		if component = containers[name]; component == "" {
			errs = append(errs, fmt.Errorf("the label %s=%s selects no component; known are: %s", componentLabel, name, knownContainers()))
		}
	}
	member = labels[MemberLabel]
	if member == "" {
		errs = append(errs, fmt.Errorf("labelSelectors must have %q: %q, or a member", MemberLabel, StepMember))
	}
	if pods.Mode != chaos.OneMode && pods.Mode != chaos.AllMode {
		errs = append(errs, fmt.Errorf("mode %q cannot be carried out; one and all can", pods.Mode))
	}
	delete(labels, componentLabel)
	delete(labels, MemberLabel)
	if len(labels) > 0 {
		errs = append(errs, fmt.Errorf("labelSelectors has %s, which cannot be selected by; %s and %s can",
			strings.Join(slices.Sorted(maps.Keys(labels)), ", "), componentLabel, MemberLabel))
	}
	// The namespace says nothing here: a member's components are all in one.
	pods.Selector.Namespaces, pods.Selector.LabelSelectors = nil, nil
	return component, member, errors.Join(errs...)
}

// plainMeta leaves out of the metadata what a fault may have there.
func plainMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Name, meta.Namespace = "", ""
	return meta
}

// nothingElse is an error if anything is left of a part of which all that is
// understood was taken out.
func nothingElse(path string, rest any) error {
	if reflect.ValueOf(rest).IsZero() {
		return nil
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	var left map[string]any
	if err := json.Unmarshal(raw, &left); err != nil {
		return err
	}
	keys := meaningful(path, left)
	if len(keys) == 0 {
		return nil
	}
	return fmt.Errorf("cannot be carried out, and must be left out: %s", strings.Join(keys, ", "))
}

// meaningful lists the keys that lead to something other than an empty value.
func meaningful(path string, object map[string]any) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch value := object[key].(type) {
		case map[string]any:
			keys = append(keys, meaningful(path+"."+key, value)...)
		case nil:
		case string:
			if value != "" {
				keys = append(keys, path+"."+key)
			}
		default:
			keys = append(keys, path+"."+key)
		}
	}
	return keys
}

func positive(path, s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s %q is no positive duration", path, s)
	}
	return d, nil
}

func knownContainers() string {
	return strings.Join(componentNames(), ", ")
}

// componentNames are the components, as kubeadm calls them.
func componentNames() []string { return slices.Sorted(maps.Keys(containers)) }
