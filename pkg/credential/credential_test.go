package credential

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

func TestCredentialsAreNotPrinted(t *testing.T) {
	const secret = "the-very-secret-token"
	token := Token("the token of cp1", secret)
	key := Keys("the key of cp1", ecKey(t))[0]
	for _, one := range []any{token, &token, []Credential{token}, map[string]Credential{"x": token}, struct{ C Credential }{token}, key} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown := fmt.Sprintf(verb, one)
			if strings.Contains(shown, secret) || strings.Contains(shown, fmt.Sprintf("%x", secret)) || strings.Contains(shown, "PRIVATE") || strings.Contains(shown, "[45 45 45") {
				t.Errorf("%s of %T shows %s", verb, one, shown)
			}
		}
		raw, err := json.Marshal(one)
		if err != nil || strings.Contains(string(raw), secret) || strings.Contains(string(raw), base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Errorf("as JSON it is %s, %v", raw, err)
		}
	}
	if got := fmt.Sprint(token); got != "the token of cp1" {
		t.Errorf("it is called %q", got)
	}
}

func TestMerge(t *testing.T) {
	key := ecKey(t)
	all := Merge(nil, Token("a", "1"), Token("b", "1"), Token("c", "2"), Token("none", " \n"), Keys("d", key)[0], Keys("e", key)[0])
	all = Merge(all, Token("f", "2\n"), Token("g", "3"))
	if got := fmt.Sprint(all); got != "[a c d g]" {
		t.Errorf("merged to %s", got)
	}
	if !all[0].Same(Token("x", "1")) || all[0].Same(all[1]) {
		t.Error("the same is not told from others")
	}
}

// Only what the owner of a key knows is its secret: certificates have the rest.
func TestSecretPartOfKeys(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	primes, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := curve.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		key           any
		secret, known []byte
	}{
		"EC":  {curve, must(curve.Bytes()), public},
		"RSA": {primes, primes.Primes[1].Bytes(), primes.N.Bytes()},
	} {
		der, err := x509.MarshalPKCS8PrivateKey(tc.key)
		if err != nil {
			t.Fatal(err)
		}
		keys := Keys(name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		_, got, from, to, ok := keys[0].Key()
		if !ok || string(got) != string(der) {
			t.Fatalf("%s: it is no key", name)
		}
		part := string(got[from:to])
		if !strings.Contains(part, string(tc.secret)) || strings.Contains(part, string(tc.known)) {
			t.Errorf("%s: its secret part is from %d to %d of %d", name, from, to, len(der))
		}
		if _, ok := keys[0].Text(); ok {
			t.Errorf("%s: it is taken for a token", name)
		}
	}
}

func TestFile(t *testing.T) {
	key := ecKey(t)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("c")})
	coded := base64.StdEncoding.EncodeToString(key)
	for _, tc := range []struct{ name, content, want string }{
		{"key", string(key), "[the private key x]"},
		{"certificate and two keys", string(certificate) + string(key) + string(ecKey(t)), "[the private key x the private key x (2)]"},
		{"certificate", string(certificate), "[]"},
		{"nothing", "", "[]"},
		{"kubeconfig", "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {client-key-data: " + coded + "}\n- name: b\n  user: {token: t, password: p, username: u}\n",
			"[the client key of a in x the token of b in x the password of b in x]"},
		{"kubeconfig with a plugin of old", "kind: Config\napiVersion: v1\nusers:\n- name: a\n  user: {auth-provider: {name: oidc, config: {id-token: i, idp-issuer-url: u, client-secret: s}}}\n",
			"[the client-secret of a in x the id-token of a in x]"},
		{"kubeadm", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n- token: \"abcdef.0123456789abcdef\"\ncertificateKey: " + strings.Repeat("ab", 32) + "\n",
			"[the bootstrap token in x the certificate key in x]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := File("x", []byte(tc.content))
			if err != nil || fmt.Sprint(got) != tc.want {
				t.Errorf("%v, %v; want %s", got, err, tc.want)
			}
		})
	}
	if _, err := File("x", []byte("kind: Config\nusers: the-very-secret-token")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func ecKey(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}
