package gate

import (
	"crypto/x509"
	"reflect"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"

	"github.com/startgate/startgate/envcheck"
)

// Mode says what the gate does about what it finds.
type Mode envcheck.Word

// The modes.
const (
	Enforce Mode = "enforce" // a fault keeps the worker from starting
	Observe Mode = "observe" // a fault is said, and the worker starts all the same
	Off     Mode = "off"     // nothing is checked
)

// Settings steer the gate. README.md has them with their meaning.
type Settings struct {
	Contract     envcheck.Secret // path of the contract file, "" for the built-in one
	Mode         Mode
	RedisKeys    [][]envcheck.Key // each group is one wait, its first key that is set counts
	Client       envcheck.Client  // "" for what the key or the worker says
	Require      envcheck.Require
	KeyPrefix    string
	TLSRoots     *x509.CertPool // nil: the system's
	TLSVerify    envcheck.TLSVerify
	Timeout      time.Duration
	Delay        time.Duration
	StartJitter  time.Duration
	RefuseAfter  time.Duration
	DialTimeout  time.Duration
	ReplyTimeout time.Duration
	IntervalMin  time.Duration
	IntervalMax  time.Duration
	StateFile    envcheck.Secret // path, "" for the first place that can be written
	HealthListen envcheck.Secret // HOST:PORT or a port, "" for none
	JSON         bool
	SetBy        []SetBy // settings that have not their default, in order
}

// SetBy says which flag, variable or key of the worker set a setting.
type SetBy struct {
	Setting envcheck.Word
	Name    envcheck.Key
}

const envPrefix = "STARTGATE"

// texts are the settings as they come, and the one table of their names,
// defaults and descriptions. envconfig fills it: a field that takes any text
// cannot fail, so that parse sees every fault and not only the first, and no
// error that quotes a value comes about.
//
// The names are the variables' own, since envconfig's other ways to name them
// do harm: with an envconfig tag an unset STARTGATE_TIMEOUT would be read from
// the worker's own TIMEOUT, and split_words costs 30 µs of regular expressions
// and would make TLSCA_FILE of TLSCAFile.
type texts struct {
	Contract      text `desc:"contract file (default /etc/startgate/contract.yaml when it exists, else the built-in contract)"`
	Mode          text `default:"enforce" desc:"enforce; observe: say what would have happened and start the worker all the same; off" flag:"-"`
	Redis_Keys    text `default:"BULLMQ_REDIS_URL|RQ_REDIS_URL|CELERY_BROKER_URL|REDIS_URL|REDIS_HOST" desc:"variables that hold a Redis URL: A|B is the first that is set, A,B is both; only without a contract file"`
	Client        text `desc:"family of Redis clients whose URL dialect applies: generic, rq, celery, sidekiq, bullmq or asynq; default: what the variable's name says, else the worker's command, else generic; only without a contract file"`
	Require       text `default:"write" desc:"what Redis must do: reachable (answer anything), ping, or write (a test that changes nothing); only without a contract file"`
	Key_Prefix    text `default:"startgate" desc:"prefix of the key that the write test looks for; only without a contract file"`
	TLS_CA_File   text `desc:"PEM file of trusted authorities; default: the system's, else an embedded set"`
	TLS_Verify    text `default:"full" desc:"full, ca (any host name) or none"`
	Timeout       text `default:"300s" desc:"budget of all waits together; 0 is one attempt"`
	Delay         text `default:"0s" desc:"pause after readiness, which must hold at its end"`
	Start_Jitter  text `default:"0s" desc:"the first attempt waits a random part of this"`
	Refuse_After  text `default:"0s" desc:"how long a refusal is retried before it is final"`
	Dial_Timeout  text `default:"3s" desc:"limit of one look-up, connect and TLS handshake"`
	Reply_Timeout text `default:"2s" desc:"limit of one answer"`
	Interval_Min  text `default:"25ms" desc:"shortest pause between attempts"`
	Interval_Max  text `default:"1s" desc:"longest pause between attempts"`
	State_File    text `desc:"file that startgate health reads; default: the first of /run/startgate, /dev/shm and /tmp that can be written"`
	Health_Listen text `desc:"port, or host:port, at which /healthz and /readyz are answered while the gate waits"`
	Format        text `default:"text" desc:"text or json"`
}

// text is a setting's text. An empty one counts as unset.
type text struct{ secret envcheck.Secret }

// Decode implements [envconfig.Decoder].
func (t *text) Decode(s string) error {
	t.secret = envcheck.Seal(s)
	return nil
}

// A SettingInfo describes a setting for a reader.
type SettingInfo struct {
	Name     string // of the flag, without dashes
	Variable envcheck.Key
	Flag     bool // false when only the variable sets it
	Default  string
	Doc      string
}

// SettingInfos lists the settings in the order of the README.
func SettingInfos() []SettingInfo {
	t := reflect.TypeFor[texts]()
	infos := make([]SettingInfo, t.NumField())
	for i := range infos {
		f := t.Field(i)
		name := strings.ToLower(f.Name)
		infos[i] = SettingInfo{
			Name:     strings.ReplaceAll(name, "_", "-"),
			Variable: envcheck.Key(envPrefix + "_" + strings.ToUpper(name)),
			Flag:     f.Tag.Get("flag") != "-",
			Default:  f.Tag.Get("default"),
			Doc:      f.Tag.Get("desc"),
		}
	}
	return infos
}

// LoadSettings reads the settings from flags, by their names, and for what
// they do not set from the process's STARTGATE_* variables, and then from what
// the worker's keys give. It returns every fault; a setting with a fault has
// its default.
func LoadSettings(flags map[string]string, given ...envcheck.Setting) (Settings, []envcheck.Diagnostic) {
	var t texts
	if err := envconfig.Process(envPrefix, &t); err != nil {
		panic("a field of texts does not take any text") // err would quote it
	}
	return parseSettings(&t, flags, given)
}
