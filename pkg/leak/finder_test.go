package leak

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Every form in which a private key may get into a file.
var keyForms = map[string]func(written, der []byte) string{
	"PEM":                 func(written, _ []byte) string { return string(written) },
	"PEM in JSON":         func(written, _ []byte) string { return asJSON(string(written)) },
	"PEM in JSON in JSON": func(written, _ []byte) string { return asJSON(asJSON(string(written))) },
	"PEM with DOS lines":  func(written, _ []byte) string { return strings.ReplaceAll(string(written), "\n", "\r\n") },
	"PEM in YAML":         func(written, _ []byte) string { return strings.ReplaceAll("key: |\n"+string(written), "\n", "\n    ") },
	"PEM in log lines": func(written, _ []byte) string {
		return strings.ReplaceAll(string(written), "\n", "\nI1122 06:28:08 1 x.go:7] ")
	},
	"PEM without its marks":  func(written, _ []byte) string { return body(written) },
	"kubeconfig":             func(written, _ []byte) string { return kubeconfig(written) },
	"kubeconfig in base64":   func(written, _ []byte) string { return base64.StdEncoding.EncodeToString([]byte(kubeconfig(written))) },
	"base64 of PEM in lines": func(written, _ []byte) string { return inLines(base64.StdEncoding.EncodeToString(written), 76) },
	"base64":                 func(_, der []byte) string { return base64.StdEncoding.EncodeToString(der) },
	"base64 for URLs":        func(_, der []byte) string { return base64.RawURLEncoding.EncodeToString(der) },
	"base64 in short lines":  func(_, der []byte) string { return inLines(base64.StdEncoding.EncodeToString(der), 10) },
	"base64 after a byte":    func(_, der []byte) string { return base64.StdEncoding.EncodeToString(append([]byte{7}, der...)) },
	"base64 after two bytes": func(_, der []byte) string { return base64.StdEncoding.EncodeToString(append([]byte{7, 7}, der...)) },
	"hex":                    func(_, der []byte) string { return hex.EncodeToString(der) },
	"hex in capitals":        func(_, der []byte) string { return strings.ToUpper(hex.EncodeToString(der)) },
	"hex of PEM":             func(written, _ []byte) string { return hex.EncodeToString(written) },
	"hex dump":               func(_, der []byte) string { return strings.TrimSpace(inLines(hex.EncodeToString(der), 2)) },
	"hex with colons":        func(_, der []byte) string { return strings.ReplaceAll(inLines(hex.EncodeToString(der), 2), "\n", ":") },
	"raw":                    func(_, der []byte) string { return string(der) },
}

func TestPrivateKeys(t *testing.T) {
	for kind, der := range derKeys(t) {
		written := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		known := credential.Keys("the key of cp1", written)
		if len(known) != 1 {
			t.Fatalf("%s: %d keys", kind, len(known))
		}
		for form, write := range keyForms {
			t.Run(kind+"/"+form, func(t *testing.T) {
				found := check(t, known, "one line\nbefore: ", write(written, der), "\nafter, and one more\n", "the key of cp1")
				if at := found[0].line; at != 2 && slices.Contains([]string{"PEM", "PEM in JSON", "PEM in log lines", "base64", "hex"}, form) {
					t.Errorf("it is found in line %d", at)
				}
			})
		}
	}
}

// A piece of a private key is enough.
func TestPieceOfAPrivateKey(t *testing.T) {
	for kind, der := range derKeys(t) {
		known := credential.Keys("the key of cp1", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
		_, _, from, to, _ := known[0].Key()
		piece := der[from:to]
		piece = piece[len(piece)/4 : len(piece)/4+min(40, len(piece)*3/4)]
		for form, text := range map[string]string{
			"base64": base64.StdEncoding.EncodeToString(piece), "hex": hex.EncodeToString(piece), "raw": string(piece),
		} {
			t.Run(kind+"/"+form, func(t *testing.T) {
				if form == "raw" && len(piece) < 2*window {
					piece = der[from:to] // the shortest keys hardly have more than a window
				}
				// A letter beside it could by chance be the one that the key goes on with.
				check(t, known, "§§ ", text, " §§", "the key of cp1")
			})
		}
	}
}

func TestTokens(t *testing.T) {
	const hard = `p"a\s<s>&w/o rd+`
	signature := base64.RawURLEncoding.EncodeToString(random(t, 256))
	web := "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0." + signature
	long := hex.EncodeToString(random(t, 200))
	for _, tc := range []struct{ name, token, text string }{
		{"raw", "abcdef.0123456789abcdef", "token=abcdef.0123456789abcdef"},
		{"shortest", "hunter22", "password: hunter22"},
		{"in the midst of a word", "the-very-secret-token", "xxthe-very-secret-tokenxx"},
		{"in JSON", hard, asJSON(hard)},
		{"in a URL", hard, "https://x/?password=p%22a%5Cs%3Cs%3E%26w%2Fo+rd%2B&x=y"},
		{"raw, with all sorts of characters", hard, hard},
		{"with a password at its end", "secret-with-an-end!", "secret-with-an-end!"},
		{"basic authentication", "hunter22", base64.StdEncoding.EncodeToString([]byte("admin:hunter22"))},
		{"in a Secret", "abcdef.0123456789abcdef", base64.StdEncoding.EncodeToString([]byte("abcdef.0123456789abcdef"))},
		{"kubeconfig in base64", "abcdef.0123456789abcdef", base64.StdEncoding.EncodeToString([]byte("- user:\n    token: abcdef.0123456789abcdef\n"))},
		{"base64 of base64", "abcdef.0123456789abcdef", base64.StdEncoding.EncodeToString([]byte("token: " + base64.StdEncoding.EncodeToString([]byte("abcdef.0123456789abcdef"))))},
		{"hex", "the-very-secret-token", hex.EncodeToString([]byte("the-very-secret-token"))},
		{"hex in capitals", "the-very-secret-token", strings.ToUpper(hex.EncodeToString([]byte("the-very-secret-token")))},
		{"web token", web, web},
		{"its signature alone", web, signature},
		{"its signature in lines", web, inLines(signature, 60)},
		{"long", long, long},
		{"in lines", long, inLines(long, 60)},
		{"half of a long one", long, long[100:300]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check(t, []credential.Credential{credential.Token("the token of cp1", tc.token)}, "before\nbefore ", tc.text, "\nafter", "the token of cp1")
		})
	}
}

// What no provider told of is found by its form.
func TestForms(t *testing.T) {
	der := derKeys(t)["EC PRIVATE KEY"]
	for _, kind := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"} {
		written := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		for form, text := range map[string]string{
			"as it is": string(written), "in JSON": asJSON(string(written)), "in a kubeconfig": kubeconfig(written),
			"without line breaks": strings.ReplaceAll(string(written), "\n", ""),
			"in log lines":        keyForms["PEM in log lines"](written, nil),
			"cut off":             string(written[:len(written)-len(kind)-30]),
		} {
			t.Run(kind+"/"+form, func(t *testing.T) { check(t, nil, "before\nbefore ", text, "\nafter", unknownKey) })
		}
	}
	const web = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
	for name, tc := range map[string]struct{ text, what string }{
		"web token":            {web, unknownToken},
		"web token in JSON":    {`{"status":{"token":"` + web + `","x":1}}`, unknownToken},
		"header":               {"Authorization: Bearer abcdefgh12345678", unknownLogin},
		"header in JSON":       {`{"Authorization":["Bearer abcdefgh12345678"]}`, unknownLogin},
		"header in text":       {`"GET / HTTP/1.1\r\nauthorization: bearer abcdefgh12345678\r\n"`, unknownLogin},
		"header of a password": {"curl -H 'Authorization: Basic YWRtaW46aHVudGVyMjI='", unknownLogin},
	} {
		t.Run(name, func(t *testing.T) { check(t, nil, "before\nbefore ", tc.text, "\nafter", tc.what) })
	}
}

// What only looks like a secret stays.
func TestNoSecrets(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	known := credential.Keys("the key of cp1", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	//nolint:gosec // G101: these look like credentials on purpose, and open nothing.
	for name, text := range map[string]string{
		"its certificate": string(certificate), "in base64": base64.StdEncoding.EncodeToString(certificate),
		"after a byte":       base64.StdEncoding.EncodeToString(append([]byte{1}, certificate...)),
		"after two":          base64.StdEncoding.EncodeToString(append([]byte{1, 2}, certificate...)),
		"raw":                string(der),
		"hex":                hex.EncodeToString(der),
		"masked header":      `"Authorization: Bearer <masked>" and Authorization: Bearer [REDACTED]`,
		"prose":              "authorization basic credentials are not taken, and a bearer authentication-token neither; authorization: none",
		"sentence about PEM": `it has no PEM block "PRIVATE KEY", or begins with -----BEGIN PRIVATE KEY----- and nothing else, which is not what was expected of it`,
		"continue token":     "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTIzNCwic3RhcnQiOiJiYWxsYXN0cy0xIn0",
		"what a mask leaves": Mask + "\n" + Mask,
	} {
		t.Run(name, func(t *testing.T) {
			if found := find(text, known, len(text)); len(found) > 0 {
				t.Errorf("found %v in line %d", found[0].whats, found[0].line)
			}
		})
	}
}

func TestSearchable(t *testing.T) {
	for text, want := range map[string]bool{"1234567": false, "12345678": true, " 1234567 ": false} {
		if got := Searchable(credential.Token("x", text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// --- Helpers ---

// check demands that the middle of a text is found, as what, and masked, and nothing
// else, however the text comes in chunks. It gives what was found.
func check(t *testing.T, known []credential.Credential, before, secret, after, what string) []place {
	t.Helper()
	text := before + secret + after
	found := find(text, known, len(text))
	if len(found) == 0 {
		t.Fatalf("nothing was found in\n%s", text)
	}
	var whats []string
	for _, one := range found {
		whats = append(whats, one.whats...)
		if one.begin < 0 || one.end > int64(len(text)) || one.begin >= one.end || one.lastLine < one.line {
			t.Errorf("found from %d to %d, in lines %d to %d", one.begin, one.end, one.line, one.lastLine)
		}
	}
	// A line of it may show that it is a private key, and not yet which.
	odd := slices.ContainsFunc(whats, func(one string) bool { return one != what && (len(known) == 0 || one != unknownKey) })
	if odd || !slices.Contains(whats, what) {
		t.Errorf("found %q, want %q", whats, what)
	}
	for _, chunk := range []int{1, 3, 64} {
		if again := find(text, known, chunk); !slices.EqualFunc(found, again, func(a, b place) bool { return a.found == b.found }) {
			t.Errorf("in chunks of %d it is found at %+v, and as a whole at %+v", chunk, again, found)
		}
	}
	var masked strings.Builder
	if err := maskBytes(&masked, reader(text), found); err != nil {
		t.Fatal(err)
	}
	left := masked.String()
	if more := find(left, known, len(left)); len(more) > 0 {
		t.Errorf("masked, it still has %q", more[0].whats)
	}
	if !strings.Contains(left, Mask) || strings.Count(left, "\n") != strings.Count(text, "\n") ||
		!strings.HasPrefix(left, strings.TrimRight(before, " ")) || !strings.HasSuffix(left, strings.TrimLeft(after, " ")) {
		t.Errorf("masked, it is\n%s\nand was\n%s", left, text)
	}
	return found
}

func find(text string, known []credential.Credential, chunk int) []place {
	f := newFinder(newPieces(known))
	for part := range slices.Chunk([]byte(text), chunk) {
		_, _ = f.Write(part)
	}
	return f.places()
}

// derKeys are private keys of all kinds, by the type of their PEM blocks.
func derKeys(t *testing.T) map[string][]byte {
	t.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	primes, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]byte{"RSA PRIVATE KEY": x509.MarshalPKCS1PrivateKey(primes), "SOME PRIVATE KEY": random(t, 100)}
	if keys["EC PRIVATE KEY"], err = x509.MarshalECPrivateKey(curve); err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]any{"PRIVATE KEY": curve, "ED PRIVATE KEY": edwards, "LONG PRIVATE KEY": primes} {
		if keys[name], err = x509.MarshalPKCS8PrivateKey(key); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func random(t *testing.T, size int) []byte {
	t.Helper()
	out := make([]byte, size)
	if _, err := rand.Read(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func kubeconfig(key []byte) string {
	return "users:\n- name: admin\n  user:\n    client-key-data: " + base64.StdEncoding.EncodeToString(key)
}

// body are the lines of a PEM block between its marks.
func body(written []byte) string {
	lines := strings.Split(strings.TrimSpace(string(written)), "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}

func inLines(text string, width int) string {
	var out bytes.Buffer
	for part := range slices.Chunk([]byte(text), width) {
		out.Write(part)
		out.WriteByte('\n')
	}
	return out.String()
}
