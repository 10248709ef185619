package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// Kinds of breaches that a check tells from all others that it finds, so that a
// documented deviation can be recognised. A kind must be narrow: whatever it
// covers is excused wherever the deviation is.
const (
	// kindRejoined is of SV-21: an entry went after the restarted server had
	// joined under a new identity Lease, and was back before it was ready.
	kindRejoined = "rejoined"
	// kindBarrierInstead is of SV-08: a version was called agreed though a server
	// had joined that had not reported, and that server stored nothing of the
	// resource before it did.
	kindBarrierInstead = "barrier-instead"
	// kindNoCustom is of SV-24: a custom resource of which no server has ever
	// published a storage version.
	kindNoCustom = "custom-unpublished"
	// kindStaleAtBoot is of SV-17: a server was ready and had left entries of
	// others that did not take part.
	kindStaleAtBoot = "stale-at-boot"
	// kindDisagreed is of SVM-20 and SVM-21: a migration took no notice of what the
	// servers announce.
	kindDisagreed = "disagreed"
	// kindUnclaimed is of CLE-20: nobody coordinated, and no instance took a Lease by
	// itself.
	kindUnclaimed = "unclaimed"
)

// kinds that each requirement's check can give.
var kinds = map[requirement.ID][]string{
	"CLE-20": {kindUnclaimed},
	"SV-08":  {kindBarrierInstead},
	"SV-17":  {kindStaleAtBoot},
	"SV-21":  {kindRejoined},
	"SV-24":  {kindNoCustom},
	"SVM-20": {kindDisagreed},
	"SVM-21": {kindDisagreed},
}
