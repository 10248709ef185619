package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	folderMode  = 0o700
	privateMode = 0o600
)

// authority signs all certificates of one cluster. Its key exists only in
// memory: nothing is ever signed after the cluster was prepared.
type authority struct {
	dir    string
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	pem    []byte
	pool   *x509.CertPool
	serial int64
}

// keyPair is a certificate with its key, as files and in memory.
type keyPair struct {
	certFile, keyFile string
	certPEM, keyPEM   []byte
}

// subject is whom a certificate is for.
type subject struct {
	name, organization string
	// server adds the names under which the loopback is reached.
	server bool
}

func newAuthority(dir, cluster string) (*authority, error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, fmt.Errorf("cannot make the folder for certificates: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "evenkeel-ca-" + cluster},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &authority{dir: dir, key: key, cert: cert, serial: 1, pool: x509.NewCertPool()}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.pool.AddCert(cert)
	return a, os.WriteFile(a.file(), a.pem, privateMode)
}

// file is where the authority's own certificate is.
func (a *authority) file() string { return filepath.Join(a.dir, "ca.crt") }

// issue makes a key and a certificate and writes both to files of the name.
func (a *authority) issue(name string, whom subject) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		Subject:      pkix.Name{CommonName: whom.name},
		NotBefore:    a.cert.NotBefore,
		NotAfter:     a.cert.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if whom.organization != "" {
		template.Subject.Organization = []string{whom.organization}
	}
	if whom.server {
		// etcd's peers are servers and clients with one certificate.
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		template.DNSNames = []string{"localhost"}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return keyPair{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return keyPair{}, err
	}
	pair := keyPair{
		certFile: filepath.Join(a.dir, name+".crt"),
		keyFile:  filepath.Join(a.dir, name+".key"),
		certPEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
	if err := os.WriteFile(pair.keyFile, pair.keyPEM, privateMode); err != nil {
		return keyPair{}, err
	}
	return pair, os.WriteFile(pair.certFile, pair.certPEM, privateMode)
}

// clientTLS is for talking to the cluster's servers with the key pair.
func (a *authority) clientTLS(pair keyPair) (*tls.Config, error) {
	certificate, err := tls.X509KeyPair(pair.certPEM, pair.keyPEM)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.pool, Certificates: []tls.Certificate{certificate}}, nil
}
