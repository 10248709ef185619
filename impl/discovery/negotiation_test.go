package discovery

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	testJSON     = "application/json"
	testYAML     = "application/yaml"
	testProtobuf = "application/vnd.kubernetes.protobuf"
)

func as(mediaType, version string) string {
	return mediaType + ";g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList"
}

func TestNegotiate(t *testing.T) {
	both, newest := []string{V2, V2beta1}, []string{V2}
	plain := Form{MediaType: testJSON}
	v2 := Form{Version: V2, MediaType: testJSON}
	v2beta1 := Form{Version: V2beta1, MediaType: testJSON}
	tests := []struct {
		name    string
		accept  []string
		offered []string
		want    Form
		refused bool
	}{
		{name: "no header", want: plain},
		{name: "empty header", accept: []string{" "}, want: plain},
		{name: "anything", accept: []string{"*/*"}, want: plain},
		{name: "any application", accept: []string{"application/*"}, want: plain},
		{name: "JSON", accept: []string{testJSON}, want: plain},
		{name: "YAML", accept: []string{testYAML}, want: Form{MediaType: testYAML}},
		{name: "protobuf", accept: []string{testProtobuf}, want: Form{MediaType: testProtobuf}},

		{name: "v2 in JSON", accept: []string{as(testJSON, V2)}, want: v2},
		{name: "v2 in YAML", accept: []string{as(testYAML, V2)}, want: Form{Version: V2, MediaType: testYAML}},
		{name: "v2 in protobuf", accept: []string{as(testProtobuf, V2)}, want: Form{Version: V2, MediaType: testProtobuf}},
		{name: "v2 in anything", accept: []string{as("*/*", V2)}, want: v2},
		{name: "capitals and spaces", accept: []string{"Application/JSON ; AS=APIGroupDiscoveryList ; G=apidiscovery.k8s.io ; V=v2"}, want: v2},
		{name: "quoted", accept: []string{`application/json;as="APIGroupDiscoveryList";v="v2";g="apidiscovery.k8s.io";x="a,b"`}, want: v2},

		{name: "all three, all offered", accept: []string{as(testJSON, V2) + "," + as(testJSON, V2beta1) + "," + testJSON}, offered: both, want: v2},
		{name: "all three, v2 offered", accept: []string{as(testJSON, V2) + "," + as(testJSON, V2beta1) + "," + testJSON}, want: v2},
		{name: "over several lines", accept: []string{as(testJSON, V2), testJSON}, want: v2},
		{name: "beta first, both offered", accept: []string{as(testJSON, V2beta1), as(testJSON, V2)}, offered: both, want: v2beta1},
		{name: "beta first, v2 offered", accept: []string{as(testJSON, V2beta1), as(testJSON, V2)}, want: v2},
		{name: "beta with fallback, not offered", accept: []string{as(testJSON, V2beta1), testJSON}, want: plain},
		{name: "beta alone, offered", accept: []string{as(testJSON, V2beta1)}, offered: both, want: v2beta1},
		{name: "beta alone, not offered", accept: []string{as(testJSON, V2beta1)}, refused: true},
		{name: "a version that never was", accept: []string{as(testJSON, "v1")}, offered: both, refused: true},
		{name: "another group", accept: []string{"application/json;g=example.com;v=v2;as=APIGroupDiscoveryList"}, refused: true},
		{name: "another kind", accept: []string{"application/json;g=apidiscovery.k8s.io;v=v2;as=Table"}, refused: true},
		{name: "no kind", accept: []string{"application/json;g=apidiscovery.k8s.io;v=v2"}, refused: true},
		{name: "another kind with fallback", accept: []string{"application/json;as=Table;v=v1;g=meta.k8s.io", testJSON}, want: plain},
		{name: "HTML", accept: []string{"text/html"}, refused: true},
		{name: "HTML or anything", accept: []string{"text/html, */*;q=0.1"}, want: plain},

		// Where Kubernetes prefers the aggregated form whatever the order, the KEP
		// has the client's order.
		{name: "plain first", accept: []string{testJSON, as(testJSON, V2)}, want: plain},
		{name: "anything first", accept: []string{"*/*", as(testJSON, V2)}, want: plain},
		{name: "plain heavier", accept: []string{as(testJSON, V2) + ";q=0.1", testJSON}, want: plain},
		{name: "v2 heavier", accept: []string{testJSON + ";q=0.1", as(testJSON, V2) + ";q=0.9"}, want: v2},
		{name: "equal weights keep the order", accept: []string{as(testYAML, V2) + ";q=0.5," + as(testJSON, V2) + ";q=0.5"}, want: Form{Version: V2, MediaType: testYAML}},

		{name: "v2 refused", accept: []string{as(testJSON, V2) + ";q=0", testJSON}, want: plain},
		{name: "all refused", accept: []string{testJSON + ";q=0"}, refused: true},
		{name: "JSON refused, anything else", accept: []string{testJSON + ";q=0, */*"}, want: Form{MediaType: testYAML}},
		{name: "plain refused, v2 wanted", accept: []string{testJSON + ";q=0", as(testJSON, V2)}, want: v2},
		{name: "a weight that is none", accept: []string{testJSON + ";q=NaN"}, want: plain},
		{name: "a weight too heavy", accept: []string{testYAML, testJSON + ";q=9"}, want: Form{MediaType: testYAML}},

		{name: "the local view", accept: []string{as(testJSON, V2) + ";profile=nopeer"}, want: Form{Version: V2, MediaType: testJSON, Scope: WithoutPeers}},
		{name: "what members ask for", accept: []string{as(testJSON, V2) + ";profile=builtin"}, want: Form{Version: V2, MediaType: testJSON, Scope: BuiltinOnly}},
		{name: "an unknown profile", accept: []string{as(testJSON, V2) + ";profile=other"}, want: v2},
		{name: "an unknown parameter", accept: []string{as(testJSON, V2) + ";charset=utf-8"}, want: v2},
		{name: "an element that cannot be read", accept: []string{"application/;;=," + as(testJSON, V2)}, want: v2},
		{name: "nothing that can be read", accept: []string{";;;"}, refused: true},
		{name: "too many elements", accept: []string{strings.Repeat("text/html,", maxOptions) + testJSON}, refused: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			offered := test.offered
			if offered == nil {
				offered = newest
			}
			got, ok := Negotiate(test.accept, offered)
			if ok == test.refused || got != test.want {
				t.Errorf("got %+v, %v; want %+v, refused %v", got, ok, test.want, test.refused)
			}
		})
	}
}

func TestContentType(t *testing.T) {
	form := Form{Version: V2, MediaType: testJSON, Scope: WithoutPeers}
	if got, want := form.ContentType(), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Whatever is asked for, the answer is something that is offered and that some
// part of the header mentions.
func FuzzNegotiate(f *testing.F) {
	f.Add("")
	f.Add(testJSON + ", */*;q=0.1")
	f.Add(as(testJSON, V2) + "," + as(testProtobuf, V2beta1) + ";q=0.5;profile=nopeer")
	f.Add(`application/json;as="A,\"B";q=0`)
	f.Fuzz(func(t *testing.T, header string) {
		offered := []string{V2}
		form, ok := Negotiate([]string{header}, offered)
		if again, same := Negotiate([]string{header}, offered); again != form || same != ok {
			t.Fatalf("%+v, %v, and then %+v, %v", form, ok, again, same)
		}
		if !ok {
			return
		}
		if !slices.Contains(mediaTypes, form.MediaType) || form.Aggregated() && !slices.Contains(offered, form.Version) {
			t.Fatalf("%+v is not offered", form)
		}
		if form.Aggregated() && !strings.Contains(header, V2) {
			t.Fatalf("the client did not ask for %+v", form)
		}
		if form.MediaType == runtime.ContentTypeProtobuf && !strings.Contains(strings.ToLower(header), "protobuf") && !strings.Contains(header, "*") {
			t.Fatalf("the client did not ask for %+v", form)
		}
	})
}
