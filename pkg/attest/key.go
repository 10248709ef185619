package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// Types of the PEM blocks that hold keys, as openssl writes them.
const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// PublicKeySuffix is what the name of a new key's public half ends in.
const PublicKeySuffix = ".pub"

// PrivateKey signs bundles.
type PrivateKey struct {
	key ed25519.PrivateKey
	id  string
}

// PublicKey tells whether a signature is right.
type PublicKey struct {
	key ed25519.PublicKey
	id  string
}

// ID names a key as ssh-keygen does, by the digest of its public half.
func (k *PublicKey) ID() string { return k.id }

// Sign signs bytes, for dsse.
func (k *PrivateKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.key, data), nil
}

// KeyID names the key, for dsse.
func (k *PrivateKey) KeyID() (string, error) { return k.id, nil }

// Verify checks a signature, for dsse.
func (k *PublicKey) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(k.key, data, sig) {
		return errors.New("the signature is not that of the key")
	}
	return nil
}

// KeyID names the key, for dsse.
func (k *PublicKey) KeyID() (string, error) { return k.id, nil }

// Public is the key itself, for dsse.
func (k *PublicKey) Public() crypto.PublicKey { return k.key }

// GenerateKey writes a new key to a file that only its owner can read, and its
// public half beside it. It never overwrites one. The ID of the key is returned.
func GenerateKey(file string) (id string, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", fmt.Errorf("encode the key: %w", err)
	}
	publicDER, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("encode the public key: %w", err)
	}
	if err := writeNew(file, 0o600, &pem.Block{Type: privateBlock, Bytes: privateDER}); err != nil {
		return "", err
	}
	if err := writeNew(file+PublicKeySuffix, 0o644, &pem.Block{Type: publicBlock, Bytes: publicDER}); err != nil {
		// Half a pair is of no use, and stands in the way of another try.
		return "", errors.Join(err, os.Remove(file))
	}
	return dsse.SHA256KeyID(public)
}

func writeNew(file string, mode fs.FileMode, block *pem.Block) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and a key is never overwritten", file)
	}
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	if err := errors.Join(pem.Encode(out, block), out.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	return nil
}

// LoadPrivateKey reads an ed25519 key in PKCS #8, as GenerateKey and
// `openssl genpkey -algorithm ed25519` write it. It refuses one that others than
// its owner can read.
func LoadPrivateKey(file string) (*PrivateKey, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	if _, err := readBlock(file, publicBlock); err == nil {
		return nil, fmt.Errorf("%s is the public half of a key: sign with the other one", file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others than its owner may read the key %s (%v): chmod 600 it, or make a new one", file, info.Mode().Perm())
	}
	der, err := readBlock(file, privateBlock)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s is no private key: %w", file, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a key of another kind than ed25519", file)
	}
	id, err := dsse.SHA256KeyID(key.Public())
	if err != nil {
		return nil, fmt.Errorf("name the key: %w", err)
	}
	return &PrivateKey{key, id}, nil
}

// LoadPublicKey reads an ed25519 public key, as GenerateKey and
// `openssl pkey -pubout` write it.
func LoadPublicKey(file string) (*PublicKey, error) {
	der, err := readBlock(file, publicBlock)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s is no public key: %w", file, err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a key of another kind than ed25519", file)
	}
	id, err := dsse.SHA256KeyID(key)
	if err != nil {
		return nil, fmt.Errorf("name the key: %w", err)
	}
	return &PublicKey{key, id}, nil
}

func readBlock(file, kind string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s has no PEM block %q", file, kind)
	}
	return block.Bytes, nil
}
