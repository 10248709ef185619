package attest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
)

var (
	digests = []bundle.Digest{{Name: "history.jsonl", SHA256: strings.Repeat("a", 64)}, {Name: "report.yaml", SHA256: strings.Repeat("b", 64)}}
	rep     = &report.ConformanceReport{Run: "r", Verdict: check.Fail, Results: []check.Result{{ID: "SV-06", Verdict: check.Fail}}}
)

func TestSignAndCheck(t *testing.T) {
	dir, keyFile := t.TempDir(), newKey(t)
	id, err := Sign(t.Context(), dir, keyFile, NewStatement(digests, rep))
	if err != nil {
		t.Fatal(err)
	}
	public, err := LoadPublicKey(keyFile + PublicKeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := envelope.Check(public); err != nil || envelope.KeyID() != id || id != public.ID() || !strings.HasPrefix(id, "SHA256:") {
		t.Errorf("key %s: %v", id, err)
	}
	if got := envelope.Statement.Compare(digests, rep); len(got) > 0 {
		t.Errorf("what was signed differs from itself: %q", got)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, bundle.SignatureFile)); err != nil || strings.Contains(string(raw), "PRIVATE") {
		t.Errorf("%v\n%s", err, raw)
	}
	if _, err := Sign(t.Context(), dir, keyFile, NewStatement(digests, rep)); err == nil || !errors.Is(err, fs.ErrExist) {
		t.Errorf("signed twice: %v", err)
	}
}

func TestCompareTellsWhatIsAnother(t *testing.T) {
	other := *rep
	other.Run, other.Verdict = "s", check.Pass
	for _, tc := range []struct {
		name    string
		digests []bundle.Digest
		rep     *report.ConformanceReport
		want    []string
	}{
		{"changed", []bundle.Digest{digests[0], {Name: "report.yaml", SHA256: "c"}}, rep, []string{"report.yaml has changed since it was signed"}},
		{"more", append([]bundle.Digest{{Name: "a"}}, digests...), rep, []string{"a was not there when it was signed"}},
		{"less", digests[:1], rep, []string{`"report.yaml" was signed too, and is missing`}},
		{"another run", digests, &other, []string{"signed as the run r, and the history is of s", "signed with the verdict fail"}},
		{"not to be judged", digests, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewStatement(digests, rep)
			got := s.Compare(tc.digests, tc.rep)
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("got %q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
	foreign := NewStatement(digests, rep)
	foreign.PredicateType = "https://slsa.dev/provenance/v1"
	if got := foreign.Compare(digests, rep); len(got) != 1 || !strings.Contains(got[0], "not one on a bundle") {
		t.Errorf("a statement on something else: %q", got)
	}
}

// A key that others can read, or that would be published with the bundle, is not
// used.
func TestSignKeepsTheKeySecret(t *testing.T) {
	keyFile := newKey(t)
	if info, err := os.Stat(keyFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new key has %v, %v", info.Mode(), err)
	}
	if _, err := GenerateKey(keyFile); err == nil || !strings.Contains(err.Error(), "never overwritten") {
		t.Errorf("a second key of the name: %v", err)
	}
	if err := os.Chmod(keyFile, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(t.Context(), t.TempDir(), keyFile, NewStatement(digests, rep)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that the group can read: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "logs", "key")
	if _, err := GenerateKey(inside); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, bundleDir := range []string{dir, link} {
		if _, err := Sign(t.Context(), bundleDir, inside, NewStatement(digests, rep)); err == nil || !strings.Contains(err.Error(), "inside the bundle") {
			t.Errorf("a key in the bundle: %v", err)
		}
	}
}

func TestKeysOfOtherKinds(t *testing.T) {
	keyFile := newKey(t)
	if _, err := LoadPublicKey(keyFile); err == nil || !strings.Contains(err.Error(), `no PEM block "PUBLIC KEY"`) {
		t.Errorf("a private key in the place of a public one: %v", err)
	}
	if _, err := LoadPrivateKey(keyFile + PublicKeySuffix); err == nil || !strings.Contains(err.Error(), "is the public half of a key") {
		t.Errorf("a public key in the place of a private one: %v", err)
	}
	if _, err := LoadPrivateKey(filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("a key that is not there was read")
	}
}

// What openssl makes can be used.
func TestKeysOfOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl on this machine")
	}
	key, public := filepath.Join(t.TempDir(), "k"), filepath.Join(t.TempDir(), "p")
	for _, args := range [][]string{{"genpkey", "-algorithm", "ed25519", "-out", key}, {"pkey", "-in", key, "-pubout", "-out", public}} {
		if out, err := exec.Command(openssl, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	private, err := LoadPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if loaded, err := LoadPublicKey(public); err != nil || loaded.ID() != private.id {
		t.Errorf("%v, %v", loaded, err)
	}
}

func newKey(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if _, err := GenerateKey(file); err != nil {
		t.Fatal(err)
	}
	return file
}
