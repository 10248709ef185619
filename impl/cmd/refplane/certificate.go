package main

import (
	"crypto/tls"
	"sync"

	"k8s.io/klog/v2"
)

// certificate is a serving certificate that is read again for each connection, so that one that
// was rotated is shown without a restart. Health checks are few.
type certificate struct {
	certFile, keyFile string

	mu   sync.Mutex
	last *tls.Certificate
}

func loadCertificate(certFile, keyFile string) (*certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &certificate{certFile: certFile, keyFile: keyFile, last: &pair}, nil
}

// current gives the certificate in the files. While they cannot be read, or do not fit together
// since they are being replaced, it gives the last one that could.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		klog.ErrorS(err, "Cannot read the serving certificate again; the one before is shown", "file", c.certFile)
		return c.last, nil
	}
	c.last = &pair
	return c.last, nil
}
