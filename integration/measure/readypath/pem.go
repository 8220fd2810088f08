//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
)

// pemFiles writes a certificate and its key as redis-server wants them.
func pemFiles(dir string, c tls.Certificate) (cert, key string, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for _, f := range [...]struct {
		name, kind string
		der        []byte
	}{{cert, "CERTIFICATE", c.Certificate[0]}, {key, "PRIVATE KEY", der}} {
		block := pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der})
		if err := os.WriteFile(f.name, block, 0o600); err != nil {
			return "", "", err
		}
	}
	return cert, key, nil
}
