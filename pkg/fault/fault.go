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
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// Types of faults. Those that end so are Chaos Mesh's kinds; it has none that
// knows of keys in etcd, or of policies.
const (
	TypePod     = "PodChaos"
	TypeNetwork = "NetworkChaos"
	TypeHTTP    = history.FaultHTTP
	TypeKeys    = history.FaultKeys
	// TypeAdmission has the API servers deny writes, so it needs no access to nodes.
	TypeAdmission = history.FaultAdmission
)

const (
	// MemberLabel selects the member in a fault's selectors. Its value is a
	// member's name or a selector of the scenario, or StepMember.
	MemberLabel = "evenkeel.dev/member"
	// StepMember stands for the member that the scenario's step names.
	StepMember = "@member"
	// componentLabel is what kubeadm labels the Pods of its components with.
	componentLabel = "component"
)

// containers names the components as kubeadm does.
var containers = map[string]cluster.Component{
	"etcd":                    cluster.Etcd,
	"kube-apiserver":          cluster.APIServer,
	"kube-controller-manager": cluster.ControllerManager,
	"kube-scheduler":          cluster.Scheduler,
}

// Fault is what a Chaos Mesh object asks for, as far as a cluster.Cluster can
// do it.
type Fault struct {
	Name string
	// Type and Action are the Chaos Mesh kind and action.
	Type, Action string
	// Member is the value of MemberLabel in the selector.
	Member string
	// One is whether the fault must hit a single member.
	One bool
	// Components that are hit, cluster.Whole for all of the member; for a
	// NetworkChaos it is whose end of the link.
	Components []cluster.Component
	// Link and Shape are set for a NetworkChaos.
	Link  cluster.Link
	Shape cluster.Shape
	// Keys is set for an EtcdKeyFault.
	Keys cluster.KeyFault
	// HTTP is set for an HTTPChaos, whose Components are the clients of the requests.
	HTTP cluster.HTTPFault
	// Deny is set for an AdmissionFault.
	Deny Denial
	// Duration after which the fault heals by itself; 0 means not at all.
	Duration time.Duration
}

// Crashes is whether the fault kills processes and leaves them down.
func (f *Fault) Crashes() bool {
	return f.Type == TypePod && f.Action == string(chaos.ContainerKillAction)
}

// Pauses is whether the fault freezes a process, or a whole member.
func (f *Fault) Pauses() bool {
	return f.Type == TypePod && f.Action == string(chaos.PodFailureAction)
}

// Partitions is whether the fault lets nothing pass along a link.
func (f *Fault) Partitions() bool { return f.Type == TypeNetwork && f.Shape.Cut }

// Holds is whether the fault leaves requests to etcd unanswered by their keys.
func (f *Fault) Holds() bool { return f.Type == TypeKeys && !f.Keys.Fail }

// Parse reads a fault; file is what messages call its content. What a Chaos Mesh object can
// say and this package cannot do is an error that names it, and never ignored.
func Parse(file string, raw []byte) (*Fault, error) {
	// The kind is looked at first and leniently; the strict reading is that of
	// the kind's own type.
	var lenient map[string]any
	if err := strictyaml.DecodeJSON(file, raw, &lenient); err != nil {
		return nil, err
	}
	if lenient["kind"] == TypeKeys {
		fault, err := parseKeys(file, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return fault, nil
	}
	if lenient["kind"] == TypeAdmission {
		fault, err := parseAdmission(file, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return fault, nil
	}
	if lenient["apiVersion"] != chaos.SchemeGroupVersion.String() {
		return nil, fmt.Errorf("%s: apiVersion is %q, and must be %q", file, lenient["apiVersion"], chaos.SchemeGroupVersion)
	}

	var fault *Fault
	var err error
	switch lenient["kind"] {
	case TypePod:
		object := new(chaos.PodChaos)
		if err := strictyaml.DecodeJSON(file, raw, object); err != nil {
			return nil, err
		}
		fault, err = fromPodChaos(object)
	case TypeNetwork:
		object := new(chaos.NetworkChaos)
		if err := strictyaml.DecodeJSON(file, raw, object); err != nil {
			return nil, err
		}
		fault, err = fromNetworkChaos(object)
	case TypeHTTP:
		object := new(chaos.HTTPChaos)
		if err := strictyaml.DecodeJSON(file, raw, object); err != nil {
			return nil, err
		}
		fault, err = fromHTTPChaos(object)
	default:
		err = fmt.Errorf("a %q cannot be carried out; %s, %s, %s, %s and %s can", lenient["kind"], TypePod, TypeNetwork, TypeHTTP, TypeKeys, TypeAdmission)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return fault, nil
}

func fromPodChaos(object *chaos.PodChaos) (*Fault, error) {
	spec := object.Spec
	fault := &Fault{Name: object.Name, Type: TypePod, Action: string(spec.Action)}
	var errs []error
	component, member, err := selected(&spec.PodSelector)
	errs = append(errs, err)
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode

	switch spec.Action {
	case chaos.ContainerKillAction:
		for _, name := range spec.ContainerNames {
			known, ok := containers[name]
			if !ok {
				errs = append(errs, fmt.Errorf("spec.containerNames has %q; known are: %s", name, knownContainers()))
			}
			fault.Components = append(fault.Components, known)
		}
		if len(spec.ContainerNames) == 0 {
			errs = append(errs, errors.New("spec.containerNames must name the components to kill"))
		}
		spec.ContainerNames = nil
	case chaos.PodFailureAction:
		if component == "" {
			component = cluster.Whole
			errs = append(errs, allOf(spec.Mode))
		}
		if spec.Duration != nil {
			fault.Duration, err = positive("spec.duration", *spec.Duration)
			errs = append(errs, err)
			spec.Duration = nil
		}
		fault.Components = []cluster.Component{component}
	default:
		errs = append(errs, fmt.Errorf("spec.action %q cannot be carried out; container-kill and pod-failure can", spec.Action))
	}
	spec.Action, spec.Mode = "", ""
	errs = append(errs, nothingElse("metadata", plainMeta(object.ObjectMeta)), nothingElse("spec", spec), nothingElse("status", object.Status))
	return fault, errors.Join(errs...)
}

func fromNetworkChaos(object *chaos.NetworkChaos) (*Fault, error) {
	spec := object.Spec
	fault := &Fault{Name: object.Name, Type: TypeNetwork, Action: string(spec.Action), Link: cluster.LinkEtcd}
	var errs []error
	from, member, err := selected(&spec.PodSelector)
	errs = append(errs, err)
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode
	fault.Components = []cluster.Component{from}
	direction, why := chaos.Both, "a link is shaped in both directions alike"
	switch {
	case spec.Target == nil && from == "" && spec.Action == chaos.PartitionAction:
		// Without a target the fault is for all other machines. Chaos Mesh allows no other
		// direction then; without answers the member is cut off all the same.
		fault.Link, fault.Components = cluster.LinkNode, []cluster.Component{cluster.Whole}
		direction, why = chaos.To, "Chaos Mesh has no other one where there is no target; the member is cut off both ways"
		errs = append(errs, allOf(spec.Mode))
	case spec.Target == nil:
		errs = append(errs, fmt.Errorf("spec.target must select the other end of the link; only a partition of a whole member, without the label %s in its selector, can be without", componentLabel))
	default:
		target := *spec.Target
		to, targetMember, err := selected(&target)
		errs = append(errs, err)
		if from != cluster.APIServer || to != cluster.Etcd || targetMember != member {
			errs = append(errs, errors.New("only the link from a member's kube-apiserver to the etcd of the same member can be shaped"))
		}
		target.Mode = ""
		errs = append(errs, nothingElse("spec.target", target))
		spec.Target = nil
	}
	if spec.Direction != direction {
		errs = append(errs, fmt.Errorf("spec.direction is %q, and must be %q: %s", spec.Direction, direction, why))
	}
	if spec.Duration != nil {
		fault.Duration, err = positive("spec.duration", *spec.Duration)
		errs = append(errs, err)
	}
	switch spec.Action {
	case chaos.DelayAction:
		shape, err := delay(&spec)
		errs = append(errs, err)
		fault.Shape = shape
	case chaos.PartitionAction:
		if spec.PartitionBehavior != "" && spec.PartitionBehavior != chaos.DropPartitionBehavior {
			errs = append(errs, fmt.Errorf("spec.partitionBehavior %q cannot be carried out; drop can", spec.PartitionBehavior))
		}
		spec.PartitionBehavior = ""
		fault.Shape.Cut = true
	default:
		errs = append(errs, fmt.Errorf("spec.action %q cannot be carried out; delay and partition can", spec.Action))
	}
	spec.Action, spec.Mode, spec.Direction, spec.Duration = "", "", "", nil
	errs = append(errs, nothingElse("metadata", plainMeta(object.ObjectMeta)), nothingElse("spec", spec), nothingElse("status", object.Status))
	return fault, errors.Join(errs...)
}

// delay reads the latency, and takes what it read out of the spec.
func delay(spec *chaos.NetworkChaosSpec) (cluster.Shape, error) {
	if spec.Delay == nil {
		return cluster.Shape{}, errors.New("spec.delay must be set for the action delay")
	}
	rest := *spec.Delay
	spec.Delay = nil
	shape := cluster.Shape{}
	latency, err := positive("spec.delay.latency", rest.Latency)
	shape.Latency = latency
	errs := []error{err}
	if rest.Jitter != "" {
		shape.Jitter, err = time.ParseDuration(rest.Jitter)
		if err != nil || shape.Jitter < 0 {
			errs = append(errs, fmt.Errorf("spec.delay.jitter %q is no duration", rest.Jitter))
		}
	}
	rest.Latency, rest.Jitter = "", ""
	return shape, errors.Join(append(errs, nothingElse("spec.delay", rest))...)
}

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
	return strings.Join(slices.Sorted(maps.Keys(containers)), ", ")
}

// Needs are the abilities that a cluster must have for the fault to be injected.
func (f *Fault) Needs() []cluster.Ability {
	switch f.Type {
	case TypeKeys:
		return []cluster.Ability{cluster.FaultsKeys}
	case TypeHTTP:
		return []cluster.Ability{cluster.FaultsHTTP}
	case TypeAdmission:
		return []cluster.Ability{cluster.DeniesWrites}
	case TypeNetwork:
		if f.Link == cluster.LinkNode && f.Shape == (cluster.Shape{Cut: true}) {
			return []cluster.Ability{cluster.CutsOff}
		}
		return []cluster.Ability{cluster.ShapesLinks}
	}
	return podNeeds(f)
}

func podNeeds(f *Fault) []cluster.Ability {
	for _, component := range f.Components {
		if component != cluster.APIServer && (component != cluster.Whole || !f.Pauses()) {
			return []cluster.Ability{cluster.SeesProcesses}
		}
	}
	if f.Pauses() {
		return []cluster.Ability{cluster.Pauses}
	}
	return []cluster.Ability{cluster.Kills}
}
