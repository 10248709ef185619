package credential

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
)

// keyBlock is what the types of all PEM blocks end in that hold a private key.
const keyBlock = "PRIVATE KEY"

// Keys are the private keys among the PEM blocks of a file, which may hold none.
func Keys(what string, content []byte) []Credential {
	var keys []Credential
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return keys
		}
		if !strings.HasSuffix(block.Type, keyBlock) || len(block.Bytes) == 0 {
			continue
		}
		from, to := secretOf(block.Bytes)
		name := what
		if len(keys) > 0 {
			name = fmt.Sprintf("%s (%d)", what, len(keys)+1)
		}
		keys = append(keys, Credential{what: name, written: pem.EncodeToMemory(block), der: block.Bytes, from: from, to: to})
	}
}

// secretOf finds the part of a private key's DER that only its owner knows. It is all
// of it where the form is not known, an encrypted one for example.
func secretOf(der []byte) (from, to int) {
	var first, last []byte
	switch key := parse(der).(type) {
	case *ecdsa.PrivateKey:
		raw, err := key.Bytes()
		if err != nil {
			return 0, len(der)
		}
		first, last = raw, raw
	case ed25519.PrivateKey:
		first, last = key.Seed(), key.Seed()
	case *rsa.PrivateKey:
		// The private exponent comes first, and what it was made of follows it.
		first, last = key.D.Bytes(), key.Precomputed.Qinv.Bytes()
	default:
		return 0, len(der)
	}
	from = bytes.Index(der, first)
	end := bytes.LastIndex(der, last)
	if from < 0 || end < from || len(first) == 0 || len(last) == 0 {
		return 0, len(der)
	}
	return from, end + len(last)
}

func parse(der []byte) any {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return key
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key
	}
	return nil
}
