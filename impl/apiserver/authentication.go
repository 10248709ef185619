package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	apiserverapi "k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// loopbackValidity is the lifetime of the certificate of the loopback connection.
// The server makes a new one at every start.
const loopbackValidity = 3 * 365 * 24 * time.Hour

// authenticate configures authentication. A client is known by a certificate of the
// client CA, or by the request headers of an authenticating proxy. Every other client
// is anonymous.
func authenticate(config *genericapiserver.Config, o Options) error {
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", o.ClientCAFile)
	if err != nil {
		return fmt.Errorf("--client-ca-file: %w", err)
	}
	if err := config.Authentication.ApplyClientCert(ca, config.SecureServing); err != nil {
		return err
	}
	handedOn, err := requestHeaders(config, o)
	if err != nil {
		return err
	}
	authenticator, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                          &apiserverapi.AnonymousAuthConfig{Enabled: true},
		ClientCertificateCAContentProvider: ca,
		RequestHeaderConfig:                handedOn,
	}.New()
	if err != nil {
		return err
	}
	config.Authentication.Authenticator = authenticator
	return nil
}

// requestHeaders returns which proxies may forward requests, and in which headers they
// name the user. It is nil if no proxy may.
func requestHeaders(config *genericapiserver.Config, o Options) (*authenticatorfactory.RequestHeaderConfig, error) {
	if o.RequestHeaderClientCAFile == "" {
		return nil, nil
	}
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("request-header", o.RequestHeaderClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("--requestheader-client-ca-file: %w", err)
	}
	if err := config.Authentication.ApplyClientCert(ca, config.SecureServing); err != nil {
		return nil, err
	}
	return &authenticatorfactory.RequestHeaderConfig{
		UsernameHeaders:     headerrequest.StaticStringSlice{"X-Remote-User"},
		UIDHeaders:          headerrequest.StaticStringSlice{"X-Remote-Uid"},
		GroupHeaders:        headerrequest.StaticStringSlice{"X-Remote-Group"},
		ExtraHeaderPrefixes: headerrequest.StaticStringSlice{"X-Remote-Extra-"},
		CAContentProvider:   ca,
		AllowedClientNames:  headerrequest.StaticStringSlice(o.RequestHeaderAllowedNames),
	}, nil
}

// connectToSelf gives the server a privileged client of itself, known by a
// token that never leaves the process. The libraries' own way of doing this
// makes two RSA keys, which takes longer than all the rest of the start.
func connectToSelf(config *genericapiserver.Config) error {
	certificate, key, err := loopbackCertificate()
	if err != nil {
		return fmt.Errorf("make a certificate for the loopback connection: %w", err)
	}
	content, err := dynamiccertificates.NewStaticSNICertKeyContent("loopback", certificate, key, genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return err
	}
	config.SecureServing.SNICerts = append([]dynamiccertificates.SNICertKeyContentProvider{content}, config.SecureServing.SNICerts...)
	config.LoopbackClientConfig, err = config.SecureServing.NewLoopbackClientConfig(uuid.NewString(), certificate)
	return err
}

func loopbackCertificate() (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: genericapiserver.LoopbackClientServerNameOverride},
		DNSNames:     []string{genericapiserver.LoopbackClientServerNameOverride},
		// Clocks may be set back a little while the server runs.
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(loopbackValidity),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	private8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private8}), nil
}
