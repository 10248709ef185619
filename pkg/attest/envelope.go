package attest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// Envelope is a signed statement.
type Envelope struct {
	// Statement is what was signed. It is only as good as Check says.
	Statement Statement

	dsse *dsse.Envelope
}

// Sign signs a statement and puts the envelope into the bundle. It never
// overwrites a signature, nor does it take a key from inside the bundle, with
// which the key would be published.
func Sign(ctx context.Context, dir, keyFile string, statement Statement) (keyID string, err error) {
	if _, err := os.Stat(keyFile); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no key %s: `evenkeel keygen` makes one", keyFile)
	}
	inside, err := contains(dir, keyFile)
	if err != nil {
		return "", err
	}
	if inside {
		return "", fmt.Errorf("the key %s is inside the bundle, and would be published with it: keep it elsewhere", keyFile)
	}
	key, err := LoadPrivateKey(keyFile)
	if err != nil {
		return "", err
	}
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	payload, err := json.Marshal(statement)
	if err != nil {
		return "", fmt.Errorf("encode the statement: %w", err)
	}
	envelope, err := signer.SignPayload(ctx, PayloadType, payload)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	out, err := encode(envelope)
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(filepath.Join(dir, bundle.SignatureFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return "", fmt.Errorf("write the signature: %w", err)
	}
	_, err = file.Write(out)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write the signature: %w", err)
	}
	return key.id, nil
}

// contains is whether the file is in the folder, whatever links lead there.
func contains(dir, file string) (bool, error) {
	var real [2]string
	for i, path := range []string{dir, file} {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			resolved, err = filepath.Abs(resolved)
		}
		if err != nil {
			return false, fmt.Errorf("find %s: %w", path, err)
		}
		real[i] = resolved
	}
	return strings.HasPrefix(real[1], real[0]+string(filepath.Separator)), nil
}

// encode is the one way in which an envelope is written, so that not a byte of it
// can be changed unseen.
func encode(envelope *dsse.Envelope) ([]byte, error) {
	out, err := json.MarshalIndent(envelope, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the signature: %w", err)
	}
	return append(out, '\n'), nil
}

// Read reads the signature of a bundle; fs.ErrNotExist where there is none.
func Read(dir string) (*Envelope, error) {
	raw, err := bundle.ReadFile(dir, bundle.SignatureFile)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}

// parse reads an envelope as Sign writes it.
func parse(raw []byte) (*Envelope, error) {
	out := &Envelope{dsse: &dsse.Envelope{}}
	if err := json.Unmarshal(raw, out.dsse); err != nil {
		return nil, fmt.Errorf("it is no envelope: %w", err)
	}
	if written, err := encode(out.dsse); err != nil || !bytes.Equal(raw, written) {
		return nil, errors.New("it is not written as evenkeel writes it")
	}
	if len(out.dsse.Signatures) != 1 || out.dsse.PayloadType != PayloadType {
		return nil, fmt.Errorf("it has %d signatures of a payload of type %q, and not one of a statement", len(out.dsse.Signatures), out.dsse.PayloadType)
	}
	payload, err := canonical(out.dsse.Payload)
	if err != nil {
		return nil, err
	}
	if _, err := canonical(out.dsse.Signatures[0].Sig); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(payload, &out.Statement); err != nil {
		return nil, fmt.Errorf("its payload is no statement: %w", err)
	}
	return out, nil
}

// canonical decodes base64 that has one form only: the last character of a text
// has bits that most decoders ignore.
func canonical(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
		return nil, errors.New("what it holds is not base64")
	}
	return raw, nil
}

// KeyID is the key that the envelope names as its signer's, which every reader can
// have written.
func (e *Envelope) KeyID() string { return e.dsse.Signatures[0].KeyID }

// Check tells whether the key has signed the statement.
func (e *Envelope) Check(key *PublicKey) error {
	if e.KeyID() != key.ID() {
		return fmt.Errorf("it is by the key %q, and not by %s", e.KeyID(), key.ID())
	}
	verifier, err := dsse.NewEnvelopeVerifier(key)
	if err != nil {
		return fmt.Errorf("check the signature: %w", err)
	}
	if _, err := verifier.Verify(context.Background(), e.dsse); err != nil {
		return fmt.Errorf("the signature is not that of the key %s", key.ID())
	}
	return nil
}
