/** Alerts: open ones, the rules, and the history with its notices. */
import { PrimaryButton } from '../../parts/button.js';
import { setter } from '../../parts/setter.js';
import './alerts.css';
import { type Signal, useSignal } from '@preact/signals';
import type { Operations } from '#api';
import { type Asked, useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChangeAlerts } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { counted } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { Time } from '../../parts/time.js';
import { History } from './history.js';
import { RuleForm } from './rule-form.js';
import type { Alert, Rule } from './rule-words.js';
import { Rules } from './rules.js';
import { TestDialog } from './test-dialog.js';

const EVERY_MS = 5_000;

export default function AlertsPage() {
  const asked = useAsk('alerts', (signal) => manage('GET /v2/alerts', { signal }), EVERY_MS);
  const edited = useSignal<Rule | 'new' | undefined>(undefined);
  const tested = useSignal<Rule | undefined>(undefined);
  const firing = asked.data?.firing.length ?? 0;
  const tabs = [
    { id: 'rules', label: 'Rules', count: asked.data?.rules.length },
    { id: 'history', label: 'History' },
  ];
  const tab = useTab(tabs);
  const badge =
    asked.data === undefined ? undefined : (
      <Badge tone={firing > 0 ? 'bad' : 'good'}>{firing > 0 ? `${firing} firing` : 'all quiet'}</Badge>
    );
  return (
    <>
      <PageHead title="Alerts" badge={badge}>
        {mayChangeAlerts.value && (
          <PrimaryButton onClick={setter(edited, 'new')}>
            <Icon name="plus" />
            New rule
          </PrimaryButton>
        )}
      </PageHead>
      <Tabs label="Alerts" tabs={tabs} />
      {tab === 'history' ? <History /> : <RulesTab {...{ asked, edited, tested }} />}
      {edited.value !== undefined && (
        <RuleForm
          rule={edited.value === 'new' ? undefined : edited.value}
          hasMail={asked.data?.email_available === true}
          onClose={() => {
            edited.value = undefined;
            void asked.reload();
          }}
        />
      )}
      {tested.value !== undefined && <TestDialog rule={tested.value} onClose={setter(tested, undefined)} />}
    </>
  );
}

interface RulesTabProps {
  readonly asked: Asked<Operations['GET /v2/alerts']>;
  readonly edited: Signal<Rule | 'new' | undefined>;
  readonly tested: Signal<Rule | undefined>;
}

function RulesTab({ asked, edited, tested }: RulesTabProps) {
  const edit = (rule: Rule) => {
    edited.value = rule;
  };
  const test = (rule: Rule) => {
    tested.value = rule;
  };
  return (
    <Shown asked={asked}>
      {({ rules, firing, email_available }) => (
        <div class="stack">
          <OpenAlerts alerts={firing} />
          <Rules rules={rules} onDone={asked.reload} onEdit={edit} onTest={test} />
          <p class="small muted">
            {counted(rules.length, 'rule')}. A state that two successive looks show raises an alert; its end is told,
            too. {!email_available && 'Mails need MILLRACE_SMTP_URL. '}
            <a href="/docs/operations/alerts.html">How rules work</a>
          </p>
        </div>
      )}
    </Shown>
  );
}

/** The alerts that are open now, above the rules. */
function OpenAlerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  if (alerts.length === 0) return null;
  return (
    <section class="health bad" aria-label="Firing now">
      <h2>
        <Icon name="warning" />
        Firing now
      </h2>
      <ul class="plain-list">
        {alerts.map(({ alert, name, text, raised_at }) => (
          <li key={alert} class="open-alert">
            <span class="wrap-anywhere" dir="auto">
              {text}
            </span>
            <span class="small muted">
              {name} · <Time at={raised_at * 1_000} as="past" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
