// Package controllermanager runs the reference control plane's controllers: the
// collector of KEP-2339, which removes what API servers that went away left
// behind in StorageVersion objects, and the migrator of KEP-25.
//
// Of several controller managers one leads. Leadership saves work; nothing
// depends on it for truth, because each write is based on the resourceVersion
// of the object that was judged. What to do is decided elsewhere: by
// storageversion.Collect and by package migration.
package controllermanager
