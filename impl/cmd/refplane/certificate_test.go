package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
)

func TestCertificate_ShowsWhatIsInTheFilesNow(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write := func(host string) {
		t.Helper()
		certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := loadCertificate(certFile, keyFile); err == nil {
		t.Error("it begins without a certificate")
	}
	write("first")
	c, err := loadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	shown := func() []byte {
		t.Helper()
		pair, err := c.current(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Certificate[0]
	}
	first := shown()
	write("second")
	second := shown()
	if bytes.Equal(first, second) {
		t.Error("it shows the certificate from before the rotation")
	}
	if err := os.WriteFile(keyFile, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(shown(), second) {
		t.Error("while the files are replaced it does not show the last certificate")
	}
}
