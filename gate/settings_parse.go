package gate

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/startgate/startgate/envcheck"
)

// maxDuration bounds every duration: a year is longer than any wait.
const maxDuration = 365 * 24 * time.Hour

// maxCAFile bounds the file of trusted authorities; the usual bundle has 0.2 MB.
const maxCAFile = 4 << 20

// settingsParser turns texts into settings and keeps every fault.
type settingsParser struct {
	flags  map[string]string
	given  []envcheck.Setting // by keys of the worker
	infos  []SettingInfo
	setBy  []SetBy
	faults []envcheck.Diagnostic
}

func parseSettings(t *texts, flags map[string]string, given []envcheck.Setting) (Settings, []envcheck.Diagnostic) {
	p := settingsParser{flags: flags, given: given, infos: SettingInfos()}
	s := Settings{
		Mode:      Mode(p.word(&t.Mode, "mode", "enforce", "observe", "off")),
		Client:    envcheck.Client(p.word(&t.Client, "client", "generic", "rq", "celery", "sidekiq", "bullmq", "asynq")),
		Require:   envcheck.Require(p.word(&t.Require, "require", "reachable", "ping", "write")),
		TLSVerify: envcheck.TLSVerify(p.word(&t.TLS_Verify, "tls-verify", "full", "ca", "none")),
		JSON:      p.word(&t.Format, "format", "text", "json") == "json",

		Timeout:      p.duration(&t.Timeout, "timeout", 0),
		Delay:        p.duration(&t.Delay, "delay", 0),
		StartJitter:  p.duration(&t.Start_Jitter, "start-jitter", 0),
		RefuseAfter:  p.duration(&t.Refuse_After, "refuse-after", 0),
		DialTimeout:  p.duration(&t.Dial_Timeout, "dial-timeout", time.Millisecond),
		ReplyTimeout: p.duration(&t.Reply_Timeout, "reply-timeout", time.Millisecond),
		IntervalMin:  p.duration(&t.Interval_Min, "interval-min", time.Millisecond),
	}
	s.IntervalMax = p.duration(&t.Interval_Max, "interval-max", s.IntervalMin)
	s.RedisKeys = p.redisKeys(&t.Redis_Keys, "redis-keys")
	s.KeyPrefix = p.keyPrefix(&t.Key_Prefix, "key-prefix")
	s.TLSRoots = p.roots(&t.TLS_CA_File, "tls-ca-file")
	s.Contract, _ = p.value(&t.Contract, "contract")
	s.HealthListen = p.address(&t.Health_Listen, "health-listen")
	s.StateFile = p.path(&t.State_File, "state-file")
	s.SetBy = p.setBy
	return s, p.faults
}

func (p *settingsParser) info(name string) SettingInfo {
	for _, info := range p.infos {
		if info.Name == name {
			return info
		}
	}
	panic("no such setting")
}

// value returns the flag's text, else the variable's, else that of the
// worker's key, else the default, and the name of what set it.
func (p *settingsParser) value(t *text, name string) (envcheck.Secret, envcheck.Key) {
	setting := envcheck.Word(strings.ReplaceAll(name, "-", "_"))
	by := func(key envcheck.Key) envcheck.Key {
		p.setBy = append(p.setBy, SetBy{setting, key})
		return key
	}
	if v, ok := p.flags[name]; ok {
		return envcheck.Seal(v), by(envcheck.Key("--" + name))
	}
	info := p.info(name)
	// envconfig has put the default into t where the variable is not set.
	if os.Getenv(string(info.Variable)) != "" {
		return t.secret, by(info.Variable)
	}
	for _, g := range p.given {
		if g.Name == setting {
			return g.Text, by(g.Key)
		}
	}
	return envcheck.Seal(info.Default), info.Variable
}

func (p *settingsParser) fault(by envcheck.Key, reason envcheck.Reason) {
	p.faults = append(p.faults, envcheck.Diagnostic{
		Code: envcheck.SettingInvalid, Keys: []envcheck.Key{by}, Reason: reason,
	})
}

// word returns the one of words that the setting is, and "" where it is not set
// and has no default.
func (p *settingsParser) word(t *text, name string, words ...envcheck.Word) envcheck.Word {
	secret, by := p.value(t, name)
	if secret.Reveal() == "" && p.info(name).Default == "" {
		return ""
	}
	for _, w := range words {
		if secret.Reveal() == string(w) {
			return w
		}
	}
	p.fault(by, envcheck.NotInEnum)
	p.faults[len(p.faults)-1].Fix = "it takes " + joinWords(words)
	return envcheck.Word(p.info(name).Default)
}

// joinWords writes a, b or c.
func joinWords(words []envcheck.Word) envcheck.Word {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			text += " or " + w
		} else {
			text += ", " + w
		}
	}
	return text
}

// duration reads seconds or a Go duration.
func (p *settingsParser) duration(t *text, name string, least time.Duration) time.Duration {
	before := len(p.setBy)
	secret, by := p.value(t, name)
	d, reason := parseDuration(secret.Reveal())
	switch {
	case reason == "" && d < least && len(p.setBy) == before:
		return least // a default gives way
	case reason == "" && d < least:
		reason = envcheck.BelowMin
	}
	if reason != "" {
		p.fault(by, reason)
		d, _ = parseDuration(p.info(name).Default)
	}
	return d
}

func parseDuration(s string) (time.Duration, envcheck.Reason) {
	var d time.Duration
	if strings.Trim(s, "0123456789.") == "" {
		seconds, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, envcheck.NotDuration
		}
		d = time.Duration(math.Min(seconds, 2*maxDuration.Seconds()) * float64(time.Second))
	} else {
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			return 0, envcheck.NotDuration
		}
	}
	if d < 0 || d > maxDuration {
		return 0, envcheck.OutOfRange
	}
	return d, ""
}

// redisKeys reads A|B,C: commas part the waits, bars the keys of one.
func (p *settingsParser) redisKeys(t *text, name string) [][]envcheck.Key {
	secret, by := p.value(t, name)
	groups, ok := parseKeys(secret.Reveal())
	if !ok {
		p.fault(by, envcheck.NotKeyNames)
		groups, _ = parseKeys(p.info(name).Default)
	}
	return groups
}

func parseKeys(s string) (groups [][]envcheck.Key, ok bool) {
	seen := map[string]bool{}
	for group := range strings.SplitSeq(s, ",") {
		var keys []envcheck.Key
		for name := range strings.SplitSeq(group, "|") {
			name = strings.TrimSpace(name)
			if !envcheck.ValidKey(name) || seen[name] || strings.HasPrefix(name, envPrefix+"_") {
				return nil, false
			}
			seen[name] = true
			keys = append(keys, envcheck.Key(name))
		}
		groups = append(groups, keys)
	}
	return groups, true
}

func (p *settingsParser) keyPrefix(t *text, name string) string {
	secret, by := p.value(t, name)
	if strings.ContainsFunc(secret.Reveal(), unicode.IsControl) {
		p.fault(by, envcheck.ControlCharacter)
		return p.info(name).Default
	}
	return secret.Reveal()
}

// path reads the path of a file to write: where a relative one leads depends on
// who reads it.
func (p *settingsParser) path(t *text, name string) envcheck.Secret {
	secret, by := p.value(t, name)
	if path := secret.Reveal(); path != "" && !filepath.IsAbs(path) {
		p.fault(by, envcheck.PathNotAbsolute)
		return envcheck.Secret{}
	}
	return secret
}

// address reads a port, or HOST:PORT.
func (p *settingsParser) address(t *text, name string) envcheck.Secret {
	secret, by := p.value(t, name)
	address := secret.Reveal()
	if address == "" {
		return secret
	}
	port := address
	if _, after, err := net.SplitHostPort(address); err == nil {
		port = after
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		p.fault(by, envcheck.PortInvalid)
		return envcheck.Secret{}
	}
	return secret
}

// roots reads the file of trusted authorities, when there is to be one.
func (p *settingsParser) roots(t *text, name string) *x509.CertPool {
	secret, by := p.value(t, name)
	if secret.Reveal() == "" {
		return nil
	}
	roots, reason := readRoots(secret.Reveal())
	if reason != "" {
		p.fault(by, reason)
	}
	return roots
}

// readRoots reads a file of certificates.
func readRoots(path string) (*x509.CertPool, envcheck.Reason) {
	pem, reason := readFile(path, maxCAFile)
	if reason != "" {
		return nil, reason
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, envcheck.NoCertificate
	}
	return roots, ""
}

// readFile reads a regular file of at most limit bytes. It says in a reason
// why it cannot: an error's text has the path.
func readFile(path string, limit int64) ([]byte, envcheck.Reason) {
	info, err := os.Stat(path) // before opening: a FIFO would block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, envcheck.NotFound
	case errors.Is(err, fs.ErrPermission):
		return nil, envcheck.PermissionDenied
	case err != nil:
		return nil, envcheck.IOError
	case info.IsDir():
		return nil, envcheck.IsDirectory
	case !info.Mode().IsRegular():
		return nil, envcheck.NotRegular
	}
	b, err := slurp(path, limit+1)
	if errors.Is(err, fs.ErrPermission) {
		return nil, envcheck.PermissionDenied
	}
	if err != nil {
		return nil, envcheck.IOError
	}
	if int64(len(b)) > limit {
		return nil, envcheck.TooLarge
	}
	return b, ""
}
