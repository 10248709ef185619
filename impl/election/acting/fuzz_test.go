package acting

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
)

// Whatever the names of a Lease and its holder are, and whatever the ConfigMap holds, an action is
// either written as it was or not at all, and nothing is written by an instance that does not lead.
func FuzzAct(f *testing.F) {
	f.Add("ns/l", "me", "1.2.0", int32(0), int64(1), "", true, true)
	f.Add("", "", "", int32(-1), int64(-1), "{", false, true)
	f.Add("a/b/c", "\"}", "\u2028", int32(1<<31-1), int64(1<<62), "null", true, false)
	f.Fuzz(func(t *testing.T, lease, holder, version string, term int32, number int64, content string, there, leads bool) {
		for _, word := range []string{lease, holder, version, content} {
			if !utf8.ValidString(word) {
				return // the API takes no such name
			}
		}
		namespace, name, _ := strings.Cut(lease, "/")
		client := fake.NewClientset()
		if there {
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: prefix + name, Annotations: map[string]string{Annotation: content, "other": content}}}
			if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
				return
			}
		}
		before, clk := len(client.Actions()), clocktesting.NewFakePassiveClock(time.Unix(1, 1).UTC())
		action := Action{Lease: lease, Holder: holder, Version: version, Term: term, Number: number}
		err := act(t.Context(), client, action, func() error {
			if !leads {
				return errors.New("deposed")
			}
			return nil
		}, clk)
		if !leads {
			if err == nil || len(client.Actions()) > before {
				t.Fatalf("it acts although it does not lead: %v", client.Actions()[before:])
			}
			return
		}
		if err != nil {
			return // the server refuses such a name
		}
		written, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), prefix+name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got Action
		if err := json.Unmarshal([]byte(written.Annotations[Annotation]), &got); err != nil || !got.Sent.Equal(clk.Now()) {
			t.Errorf("it wrote %q: %v", written.Annotations[Annotation], err)
		}
		if got.Sent = action.Sent; got != action {
			t.Errorf("it wrote %q: %v", written.Annotations[Annotation], err)
		}
		if there && written.Annotations["other"] != content {
			t.Errorf("it overwrote what is not its own: %q", written.Annotations["other"])
		}
	})
}
