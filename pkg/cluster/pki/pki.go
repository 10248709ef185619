// Package pki makes the certificates of a cluster, and the kubeconfig files
// that hold them. All files with keys are readable by their owner only.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package pki

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
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

const (
	folderMode  = 0o700
	privateMode = 0o600
)

// FrontProxy is the common name of the certificate by which API servers are known
// to each other when they hand requests on, in the name of the client that made them.
const FrontProxy = "front-proxy-client"

// Authority signs all certificates of one cluster. Its key is in no
// file unless a caller asks for it.
type Authority struct {
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
	pool *x509.CertPool

	mu     sync.Mutex
	serial int64
	issued []credential.Credential
}

// Pair is a certificate with its key, as files and in memory.
type Pair struct {
	CertFile, KeyFile string
	CertPEM, KeyPEM   []byte
}

// Subject is whom a certificate is for.
type Subject struct {
	Name, Organization string
	// Server adds the names under which the loopback is reached.
	Server bool
	// Hosts are more names and addresses that a server is reached by.
	Hosts []string
}

// New makes an authority whose files lie in the folder.
func New(dir, cluster string) (*Authority, error) {
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
	a := &Authority{dir: dir, key: key, cert: cert, serial: 1, pool: x509.NewCertPool()}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.pool.AddCert(cert)
	return a, os.WriteFile(a.File(), a.pem, privateMode)
}

// PEM is the authority's own certificate.
func (a *Authority) PEM() []byte { return a.pem }

// KeyPEM is the authority's key, for those who have to sign certificates that
// are not known yet, as kubeadm does.
func (a *Authority) KeyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Credentials are the private keys of the authority and of all pairs that it has made
// so far.
func (a *Authority) Credentials() ([]credential.Credential, error) {
	own, err := a.KeyPEM()
	if err != nil {
		return nil, fmt.Errorf("encode the key of the authority %s: %w", a.cert.Subject.CommonName, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return append(credential.Keys("the private key of the authority "+a.cert.Subject.CommonName, own), a.issued...), nil
}

// next is the number of the next certificate.
func (a *Authority) next() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serial++
	return a.serial
}

// remember adds a private key to the Credentials.
func (a *Authority) remember(name string, key []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.issued = append(a.issued, credential.Keys("the private key "+name+".key", key)...)
}

// File is where the Authority's own certificate is.
func (a *Authority) File() string { return filepath.Join(a.dir, "ca.crt") }

// Issue makes a key and a certificate and writes both to files of the name. It may be
// called from several goroutines.
func (a *Authority) Issue(name string, whom Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next()),
		Subject:      pkix.Name{CommonName: whom.Name},
		NotBefore:    a.cert.NotBefore,
		NotAfter:     a.cert.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if whom.Organization != "" {
		template.Subject.Organization = []string{whom.Organization}
	}
	if whom.Server {
		// etcd's peers are servers and clients with one certificate.
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		template.DNSNames = []string{"localhost"}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		for _, host := range whom.Hosts {
			if address := net.ParseIP(host); address != nil {
				template.IPAddresses = append(template.IPAddresses, address)
			} else {
				template.DNSNames = append(template.DNSNames, host)
			}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	pair := Pair{
		CertFile: filepath.Join(a.dir, name+".crt"),
		KeyFile:  filepath.Join(a.dir, name+".key"),
		CertPEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		KeyPEM:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
	a.remember(name, pair.KeyPEM)
	if err := os.WriteFile(pair.KeyFile, pair.KeyPEM, privateMode); err != nil {
		return Pair{}, err
	}
	return pair, os.WriteFile(pair.CertFile, pair.CertPEM, privateMode)
}

// ServerTLS serves with the pair, and lets in only clients of the same authority.
func (a *Authority) ServerTLS(pair Pair) (*tls.Config, error) {
	config, err := a.ClientTLS(pair)
	if err != nil {
		return nil, err
	}
	config.ClientCAs, config.RootCAs = config.RootCAs, nil
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// ClientTLS is for talking to the cluster's servers with the key pair.
func (a *Authority) ClientTLS(pair Pair) (*tls.Config, error) {
	certificate, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.pool, Certificates: []tls.Certificate{certificate}}, nil
}

// TLS is the pair as the library wants it.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.CertPEM, p.KeyPEM) }

// Pool holds the authority alone.
func (a *Authority) Pool() *x509.CertPool { return a.pool }
