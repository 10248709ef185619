package check

import "github.com/evenkeel/evenkeel/pkg/law"

// keps are the KEPs that are judged, a line each.
var keps = []law.KEP{}
