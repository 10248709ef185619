package fault

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const httpChaos = `apiVersion: chaos-mesh.org/v1alpha1
kind: HTTPChaos
metadata: {name: f}
spec:
  mode: one
  selector: {labelSelectors: {component: kube-controller-manager, evenkeel.dev/member: "@member"}}
  port: 6443
`

func TestWhatAnHTTPChaosMaySay(t *testing.T) {
	for _, tc := range []struct{ name, spec, complaint string }{
		{"abort", "  target: Request\n  abort: true\n", ""},
		{"delay of answers", "  target: Response\n  delay: 1s\n", ""},
		{"status", "  target: Response\n  method: GET\n  path: /x\n  replace: {code: 503}\n", ""},
		{"no target", "  abort: true\n", "spec.target"},
		{"nothing", "  target: Request\n", "does one thing"},
		{"two things", "  target: Request\n  abort: true\n  delay: 1s\n", "does one thing"},
		{"status of a request", "  target: Request\n  replace: {code: 500}\n", "a request has no status"},
		{"success", "  target: Response\n  replace: {code: 200}\n", "400 to 599"},
		{"no delay", "  target: Request\n  delay: 0s\n", "no positive duration"},
		{"a body", "  target: Response\n  replace: {code: 500, body: YQ==}\n", "spec.replace.body"},
		{"a patch", "  target: Response\n  abort: true\n  patch: {headers: [[a, b]]}\n", "patch"},
		{"a code to select by", "  target: Response\n  abort: true\n  code: 200\n", "spec.code"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(httpChaos+tc.spec))
			if tc.complaint == "" && err != nil || tc.complaint != "" && (err == nil || !strings.Contains(err.Error(), tc.complaint)) {
				t.Errorf("got %v, want %q", err, tc.complaint)
			}
		})
	}
	good := httpChaos + "  target: Request\n  abort: true\n"
	for old, complaint := range map[string]string{"kube-controller-manager": "must select", "6443": "spec.port"} {
		changed := strings.Replace(strings.Replace(good, "kube-controller-manager", "kube-apiserver", boolInt(old != "6443")), "6443", "80", boolInt(old == "6443"))
		if _, err := Parse("f.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v", old, err)
		}
	}
}

func TestAShareOfRequests(t *testing.T) {
	spec := "  target: Request\n  abort: true\n"
	for annotation, want := range map[string]struct {
		every     int
		complaint string
	}{
		"":                              {0, ""},
		"evenkeel.dev/every: \"10\"":    {10, ""},
		"evenkeel.dev/every: \"1\"":     {0, "from 2 on"},
		"evenkeel.dev/every: \"tenth\"": {0, "from 2 on"},
		"example.com/every: \"10\"":     {0, "metadata.annotations"},
	} {
		metadata := "metadata: {name: f, annotations: {" + annotation + "}}"
		fault, err := Parse("f.yaml", []byte(strings.Replace(httpChaos, "metadata: {name: f}", metadata, 1)+spec))
		if want.complaint == "" && (err != nil || fault.Effect.(HTTPRequests).Every != want.every) || want.complaint != "" && (err == nil || !strings.Contains(err.Error(), want.complaint)) {
			t.Errorf("%s: got %+v, %v", annotation, fault, err)
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// httpPlane is a plane whose link understands HTTP.
type httpPlane struct {
	*plane
	told   func(cluster.HTTPExchange)
	healed int
}

func (p *httpPlane) Members() []cluster.Member {
	return []cluster.Member{{Name: "cp1", Components: []cluster.Component{cluster.ControllerManager}}}
}

func (p *httpPlane) FaultHTTP(_ string, _ cluster.Component, _ cluster.HTTPFault, observe func(cluster.HTTPExchange)) (func(), error) {
	p.told = observe
	return func() { p.healed++ }, nil
}

func TestRequestsAreTheWitness(t *testing.T) {
	fault := &Fault{Name: "f", Type: TypeHTTP, Action: "delay", Components: []cluster.Component{cluster.ControllerManager}, Effect: HTTPRequests{cluster.HTTPFault{Delay: time.Second}}}
	p, recorded := &httpPlane{plane: &plane{}}, new(events)
	active, err := NewExecutor(p, p.plane, recorded, clock.RealClock{}).Inject(t.Context(), fault, "cp1")
	if err != nil {
		t.Fatal(err)
	}
	if recorded.phases() != "inject" {
		t.Errorf("recorded %q before any request", recorded.phases())
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := active.Met(soon, 1, 0); err == nil {
		t.Error("met nothing, and says so not")
	}
	x := cluster.HTTPExchange{Method: "GET", Path: "/x"}
	p.told(x)
	x.Over, x.Sent, x.Code, x.Held = true, true, 200, time.Second
	p.told(x)
	if err := active.Met(t.Context(), 1, 1); err != nil {
		t.Error(err)
	}
	if err := active.Heal(t.Context()); err != nil || p.healed != 1 {
		t.Errorf("healed %d times, %v", p.healed, err)
	}
	var exchanges []history.InterceptedRequest
	phases := ""
	for _, ev := range *recorded {
		if ev.InterceptedRequest != nil {
			exchanges = append(exchanges, *ev.InterceptedRequest)
			continue
		}
		phases += string(ev.Fault.Phase) + " "
		if ev.Fault.Component != "controller-manager" || ev.Fault.Type != history.FaultHTTP {
			t.Errorf("recorded %+v", ev.Fault)
		}
	}
	if phases != "inject witness heal witness " {
		t.Errorf("recorded %q", phases)
	}
	want := history.InterceptedRequest{Fault: "f-1", Component: "controller-manager", Method: "GET", Path: "/x", Held: int64(time.Second), Sent: true, Code: 200}
	if len(exchanges) != 1 || exchanges[0] != want {
		t.Errorf("recorded %+v", exchanges)
	}
}

func TestALinkThatKnowsNoHTTP(t *testing.T) {
	fault := &Fault{Name: "f", Type: TypeHTTP, Action: "abort", Components: []cluster.Component{cluster.APIServer}, Effect: HTTPRequests{cluster.HTTPFault{Abort: true}}}
	_, err := NewExecutor(&plane{}, &plane{}, new(events), clock.RealClock{}).Inject(t.Context(), fault, "cp1")
	if !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
