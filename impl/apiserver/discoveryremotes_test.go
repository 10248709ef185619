package apiserver

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// A certificate that is renewed in its files is shown to aggregated servers from then on, and
// the last good one while the files do not belong together.
func TestTheProxyCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "proxy.crt"), filepath.Join(dir, "proxy.key")
	write := func(certificate, key []byte) {
		t.Helper()
		for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	made := func() (certificate, key []byte) {
		t.Helper()
		certificate, key, err := loopbackCertificate()
		if err != nil {
			t.Fatal(err)
		}
		return certificate, key
	}
	first, firstKey := made()
	write(first, firstKey)
	pair, err := dynamiccertificates.NewDynamicServingContentFromFiles("proxy-client", certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	identity := currentContent(pair)
	second, secondKey := made()
	for _, step := range []struct {
		name             string
		certificate, key []byte
		want             []byte
	}{
		{"as they were", first, firstKey, first},
		{"half replaced", second, firstKey, first},
		{"replaced", second, secondKey, second},
	} {
		write(step.certificate, step.key)
		if got, _ := identity(); !bytes.Equal(got, step.want) {
			t.Errorf("%s: another certificate is shown", step.name)
		}
	}
}
