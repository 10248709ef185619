package site

import (
	"path"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// signer is who a bundle or a campaign says has signed it; none where it is not signed. The site
// has no public key to check that with.
func (m *Model) signer(folder string) []fact {
	if !m.files[path.Join(folder, bundle.SignatureFile)] {
		return nil
	}
	envelope, err := attest.Read(m.on(folder))
	if err != nil {
		return []fact{{"Signature", "cannot be read: " + err.Error()}}
	}
	return []fact{{"Signature", "names the key " + envelope.KeyID() + ", which evenkeel verify --key checks"}}
}
