package pki

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

func TestAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ca, err := New(dir, "c-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		whom   Subject
		usages []x509.ExtKeyUsage
	}{
		{"admin", Subject{Name: "evenkeel-admin", Organization: "system:masters"}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
		{"etcd", Subject{Name: "cp1", Server: true}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pair, err := ca.Issue(tc.name, tc.whom)
			if err != nil {
				t.Fatal(err)
			}
			block, _ := pem.Decode(pair.CertPEM)
			cert, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if cert.Subject.CommonName != tc.whom.Name || len(cert.Subject.Organization) > 0 && cert.Subject.Organization[0] != tc.whom.Organization {
				t.Errorf("Subject %s", cert.Subject)
			}
			for _, usage := range tc.usages {
				options := x509.VerifyOptions{Roots: ca.pool, KeyUsages: []x509.ExtKeyUsage{usage}}
				if _, err := cert.Verify(options); err != nil {
					t.Errorf("usage %v: %v", usage, err)
				}
			}
			if !slices.Equal(cert.ExtKeyUsage, tc.usages) {
				t.Errorf("usages %v, want %v", cert.ExtKeyUsage, tc.usages)
			}
			for _, host := range []string{"127.0.0.1", "localhost"} {
				if err := cert.VerifyHostname(host); (err == nil) != tc.whom.Server {
					t.Errorf("%s: %v", host, err)
				}
			}
			for _, file := range []string{pair.CertFile, pair.KeyFile} {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != privateMode {
					t.Errorf("%s: %v, %v", file, info.Mode(), err)
				}
			}
		})
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != folderMode {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
}

// A caller that asks an authority learns of every key that it has made, also where several
// are made at once.
func TestCredentials(t *testing.T) {
	ca, err := New(filepath.Join(t.TempDir(), "pki"), "c-1")
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 8
	made := make([]Pair, pairs)
	var group errgroup.Group
	for i := range made {
		group.Go(func() (err error) {
			made[i], err = ca.Issue(fmt.Sprintf("cp%d-etcd", i), Subject{Name: "cp"})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	told, err := ca.Credentials()
	if err != nil || len(told) != pairs+1 {
		t.Fatalf("told of %v, %v", told, err)
	}
	own, err := ca.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	wanted := credential.Keys("authority", own)
	serials := map[string]bool{}
	for i, pair := range made {
		wanted = append(wanted, credential.Keys(fmt.Sprintf("the private key cp%d-etcd.key", i), pair.KeyPEM)...)
		block, _ := pem.Decode(pair.CertPEM)
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		serials[certificate.SerialNumber.String()] = true
	}
	for _, one := range wanted {
		if !slices.ContainsFunc(told, one.Same) {
			t.Errorf("the credentials lack %s", one)
		}
	}
	if len(serials) != pairs {
		t.Errorf("%d certificates have %d numbers", pairs, len(serials))
	}
}
