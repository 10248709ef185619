package discovery

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// get asks a handler; the headers come in pairs.
func get(t testing.TB, handler http.Handler, path, accept string, headers ...string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Add(pair[0], pair[1])
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func bodyOf(t testing.TB, response *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// passedOn is the next handler: it returns the path and the Accept header that it got.
var passedOn = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusTeapot)
	_, _ = io.WriteString(w, r.Header.Get("Accept"))
})

func served(t testing.TB, offered ...string) http.Handler {
	c := cluster(t, 3)
	return NewHandler(Local(c), Local(c), offered, passedOn)
}

// AD-06: all forms tell the same and have one tag.
func TestAllFormsTellTheSame(t *testing.T) {
	handler := served(t, V2, V2beta1)
	var want *apidiscoveryv2.APIGroupDiscoveryList
	tags := map[string]bool{}
	for _, version := range versions {
		for _, mediaType := range mediaTypes {
			for _, encoding := range []string{"identity", "gzip"} {
				response := get(t, handler, "/apis", as(mediaType, version), "Accept-Encoding", encoding)
				form := Form{Version: version, MediaType: mediaType}
				if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != form.ContentType() {
					t.Fatalf("%+v: %s, %s", form, response.Status, response.Header.Get("Content-Type"))
				}
				if encoding == "gzip" {
					reader, err := gzip.NewReader(response.Body)
					if err != nil || response.Header.Get("Content-Encoding") != "gzip" {
						t.Fatalf("%+v: %v, %v", form, err, response.Header)
					}
					response.Body = reader
				}
				tags[response.Header.Get("ETag")] = true
				got := decode(t, form, bodyOf(t, response))
				if want == nil {
					want = got
				}
				if len(got.Items) != 23 || !apiequality.Semantic.DeepEqual(got, want) {
					t.Errorf("%+v: another document", form)
				}
			}
		}
	}
	if len(tags) != 1 {
		t.Errorf("tags %v", tags)
	}
}

func decode(t *testing.T, form Form, body []byte) *apidiscoveryv2.APIGroupDiscoveryList {
	t.Helper()
	var object runtime.Object = &apidiscoveryv2.APIGroupDiscoveryList{}
	if form.Version == V2beta1 {
		object = &apidiscoveryv2beta1.APIGroupDiscoveryList{}
	}
	var err error
	switch form.MediaType {
	case testProtobuf:
		err = runtime.DecodeInto(toProtobuf, body, object)
	case testYAML:
		err = yaml.UnmarshalStrict(body, object)
	default:
		err = json.Unmarshal(body, object)
	}
	if err != nil {
		t.Fatalf("%+v: %v", form, err)
	}
	if kind := object.GetObjectKind().GroupVersionKind(); kind.Kind != listKind || kind.Version != form.Version {
		t.Errorf("%+v calls itself %s", form, kind)
	}
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	if err := known.Convert(object, list, nil); err != nil {
		t.Fatal(err)
	}
	list.TypeMeta = metav1.TypeMeta{}
	return list
}

func TestHandlerChooses(t *testing.T) {
	handler := served(t, V2)
	tests := []struct {
		name, path, accept string
		status             int
		contentType        string
	}{
		{"default", "/apis", "", 200, testJSON},
		{"plain", "/apis", testJSON, 200, testJSON},
		{"plain protobuf", "/apis", testProtobuf, 200, testProtobuf},
		{"aggregated", "/apis", as(testJSON, V2), 200, as(testJSON, V2)},
		{"aggregated core", "/api", as(testJSON, V2), 200, as(testJSON, V2)},
		{"local", "/apis", as(testJSON, V2) + ";profile=nopeer", 200, as(testJSON, V2)},
		{"a version not offered, with fallback", "/apis", as(testJSON, V2beta1) + "," + testJSON, 200, testJSON},
		{"a version not offered", "/apis", as(testJSON, V2beta1), 406, testJSON},
		{"core, a version not offered", "/api", as(testJSON, V2beta1), 406, testJSON},
		{"an encoding that there is not", "/apis", "text/html", 406, testJSON},
		{"with a slash", "/apis/", testJSON, 200, testJSON},
		{"with a slash, aggregated", "/apis/", as(testJSON, V2), 406, testJSON},
		{"one group", "/apis/builtin00.k8s.io", testJSON, 200, testJSON},
		{"one group, with a slash", "/apis/builtin00.k8s.io/", testJSON, 200, testJSON},
		{"one group, aggregated", "/apis/builtin00.k8s.io", as(testJSON, V2), 406, testJSON},
		{"a group that no server hosts", "/apis/unknown.example.com", testJSON, 404, "text/plain; charset=utf-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response := get(t, handler, test.path, test.accept)
			if response.StatusCode != test.status || response.Header.Get("Content-Type") != test.contentType {
				t.Errorf("got %s, %s; want %d, %s", response.Status, response.Header.Get("Content-Type"), test.status, test.contentType)
			}
			if !strings.Contains(strings.Join(response.Header.Values("Vary"), ","), "Accept") {
				t.Error("caches are not told that the answer depends on Accept")
			}
			if test.status == http.StatusNotAcceptable {
				var status metav1.Status
				if err := json.Unmarshal(bodyOf(t, response), &status); err != nil || status.Kind != "Status" || status.Reason != metav1.StatusReasonNotAcceptable || status.Code != 406 {
					t.Errorf("got %+v, %v", status, err)
				}
			}
		})
	}
}

func TestHandlerPassesOn(t *testing.T) {
	handler := served(t, V2)
	for path, accept := range map[string]string{
		"/apis/builtin00.k8s.io/v1": as(testJSON, V2),
		"/version":                  testJSON,
		"/apisix/builtin00.k8s.io":  testJSON,
		"/api/v1":                   testJSON,
	} {
		if response := get(t, handler, path, accept); response.StatusCode != http.StatusTeapot || string(bodyOf(t, response)) != accept {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	// The choice is final: the next handler must not choose the aggregated form.
	response := get(t, handler, "/api", testYAML+","+as(testJSON, V2))
	if got := string(bodyOf(t, response)); got != testYAML {
		t.Errorf("next was asked for %q", got)
	}
	post := httptest.NewRecorder()
	handler.ServeHTTP(post, httptest.NewRequest(http.MethodPost, "/apis", nil))
	if post.Code != http.StatusTeapot {
		t.Errorf("POST: status %d", post.Code)
	}
}

func TestConditionalRequests(t *testing.T) {
	handler := served(t, V2)
	first := get(t, handler, "/apis", as(testJSON, V2))
	tag := first.Header.Get("ETag")
	for header, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304,
		`"other"`: 200, strings.Trim(tag, `"`): 200, "": 200,
	} {
		response := get(t, handler, "/apis", as(testJSON, V2), "If-None-Match", header)
		body := bodyOf(t, response)
		if response.StatusCode != want || (want == 304) != (len(body) == 0) {
			t.Errorf("%q: %s with %d bytes, want %d", header, response.Status, len(body), want)
		}
		if response.Header.Get("ETag") != tag || !slices.Equal(response.Header.Values("Vary"), first.Header.Values("Vary")) || response.Header.Get("Cache-Control") == "" {
			t.Errorf("%q: headers %v", header, response.Header)
		}
	}
	if again := get(t, served(t, V2), "/apis", as(testJSON, V2)); again.Header.Get("ETag") != tag {
		t.Error("another server that serves the same has another tag")
	}
	if plain := get(t, handler, "/apis", testJSON, "If-None-Match", "*"); plain.StatusCode != http.StatusOK {
		t.Errorf("plain: %s", plain.Status)
	}
}

// AD-20, and the KEP on what the aggregated document does not have.
func TestDocumentHasNothingMore(t *testing.T) {
	body := bodyOf(t, get(t, served(t, V2), "/apis", as(testJSON, V2)))
	var list struct {
		Metadata map[string]any `json:"metadata"`
		Items    []struct {
			Metadata map[string]any `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Metadata) != 0 || len(list.Items) == 0 {
		t.Errorf("metadata of the list: %v", list.Metadata)
	}
	for _, item := range list.Items {
		if len(item.Metadata) != 1 || item.Metadata["name"] == "" {
			t.Errorf("metadata of a group: %v", item.Metadata)
		}
	}
	if strings.Contains(string(body), "storageVersionHash") {
		t.Error("the aggregated document has hashes of storage versions")
	}
}

func TestEmptyDocumentHasAList(t *testing.T) {
	document, err := NewDocument(nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := document.Bytes(Form{Version: V2, MediaType: testJSON}, false)
	if err != nil || !strings.Contains(string(body), `"items":[]`) {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := document.Bytes(Form{Version: "v3", MediaType: testJSON}, false); err == nil {
		t.Error("there is a v3")
	}
}

// KEP-3352, Feature Enablement: without the feature clients that accept the document that is
// not aggregated get that, and the others are refused with a Status.
func TestWithoutTheFeatureTheOtherDocumentIsServed(t *testing.T) {
	off := served(t)
	aggregated := canonical.ContentType()
	for accept, want := range map[string]int{
		aggregated: http.StatusNotAcceptable,
		aggregated + "," + Form{Version: V2beta1, MediaType: runtime.ContentTypeJSON}.ContentType(): http.StatusNotAcceptable,
		aggregated + "," + runtime.ContentTypeJSON:                                                  http.StatusOK,
		"": http.StatusOK,
	} {
		response := get(t, off, "/apis", accept)
		if response.StatusCode != want {
			t.Errorf("%q: got %d, want %d", accept, response.StatusCode, want)
		}
		if want != http.StatusOK {
			status := &metav1.Status{}
			if err := json.Unmarshal(bodyOf(t, response), status); err != nil || status.Reason != metav1.StatusReasonNotAcceptable {
				t.Errorf("%q: refused with %+v, %v", accept, status, err)
			}
			continue
		}
		list := &metav1.APIGroupList{}
		if err := json.Unmarshal(bodyOf(t, response), list); err != nil || list.Kind != "APIGroupList" || response.Header.Get("Content-Type") != runtime.ContentTypeJSON {
			t.Errorf("%q: got a %q as %s, %v", accept, list.Kind, response.Header.Get("Content-Type"), err)
		}
	}
}

// The defects of serving change what a sound handler is asked or answers: each breaks the
// promise that it is named after, and a handler without one is left alone.
func TestPlantedHandlersBreakTheirPromises(t *testing.T) {
	sound := served(t, V2)
	v2, plain := canonical.ContentType(), runtime.ContentTypeJSON
	tag := get(t, sound, "/apis", v2).Header.Get("ETag")
	for id, breaks := range map[defects.ID]func(http.Handler) bool{
		defects.AD01FalseProtobuf: func(h http.Handler) bool {
			r := get(t, h, "/apis", Form{Version: V2, MediaType: runtime.ContentTypeProtobuf}.ContentType())
			return strings.HasPrefix(r.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) && bodyOf(t, r)[0] == '{'
		},
		defects.AD02AggregatedByDefault: func(h http.Handler) bool { return get(t, h, "/apis", "").Header.Get("Content-Type") != plain },
		defects.AD03AggregatedFirst:     func(h http.Handler) bool { return get(t, h, "/apis", plain+","+v2).Header.Get("Content-Type") != plain },
		defects.AD04BareRefusal:         func(h http.Handler) bool { return len(bodyOf(t, get(t, h, "/apis", "text/html"))) == 0 },
		defects.AD06TagPerEncoding: func(h http.Handler) bool {
			other := get(t, h, "/apis", Form{Version: V2, MediaType: runtime.ContentTypeYAML}.ContentType()).Header.Get("ETag")
			own := get(t, h, "/apis", v2).Header.Get("ETag")
			return own != other && get(t, h, "/apis", v2, "If-None-Match", own).StatusCode == http.StatusNotModified
		},
		defects.AD07TagPerProcess: func(h http.Handler) bool { return get(t, h, "/apis", v2).Header.Get("ETag") != tag },
		defects.AD08NeverUnchanged: func(h http.Handler) bool {
			return get(t, h, "/apis", v2, "If-None-Match", tag).StatusCode == http.StatusOK
		},
		defects.AD08AlwaysUnchanged: func(h http.Handler) bool {
			return get(t, h, "/apis", v2, "If-None-Match", `"0"`).StatusCode != http.StatusOK
		},
		defects.AD09LiteralTags: func(h http.Handler) bool {
			return get(t, h, "/apis", v2, "If-None-Match", "*").StatusCode == http.StatusOK
		},
		defects.AD29OneByOne: func(h http.Handler) bool { return get(t, h, "/apis", v2+","+plain).Header.Get("Content-Type") == plain },
		defects.AD29AsksAgain: func(h http.Handler) bool {
			asked := func(path, accept string) int { return get(t, h, path, accept).StatusCode }
			return asked("/apis?timeout=32s", v2+","+plain) == http.StatusTemporaryRedirect && asked("/apis?again=true", v2+","+plain) == http.StatusOK &&
				asked("/apis?timeout=32s", v2) == http.StatusOK && asked("/api?timeout=32s", v2+","+plain) == http.StatusOK
		},
	} {
		if breaks(PlantHandler(sound, nil, nil)) {
			t.Errorf("%s is broken without the defect", id)
		}
		if !breaks(PlantHandler(sound, defects.Of(id), &Hold{})) {
			t.Errorf("%s is not broken with the defect", id)
		}
	}
}
