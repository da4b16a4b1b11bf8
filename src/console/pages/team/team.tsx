/** The account: teams and members, API keys, plans, usage. */
import { maySeeAccount, session } from '../../api/session.js';
import { PageHead } from '../../parts/page-head.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { Keys } from './keys.js';
import { Plans } from './plans.js';
import { Roles } from './roles.js';
import { Sessions } from './sessions.js';
import { Teams } from './teams.js';
import { Usage } from './usage.js';

const TABS = [
  { id: 'teams', label: 'Teams and members' },
  { id: 'keys', label: 'API keys' },
  { id: 'roles', label: 'Roles' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'plans', label: 'Plans and budgets' },
  { id: 'usage', label: 'Usage' },
];

export default function TeamPage() {
  const tabs = TABS.filter(({ id }) => id !== 'roles' || maySeeAccount.value);
  const tab = useTab(tabs);
  const user = session.value;
  return (
    <>
      <PageHead title="Team and keys" />
      {user != null && (
        <p class="muted wrap-anywhere" style={{ marginBottom: 'var(--s3)' }}>
          Signed in as {user.email}, {user.role} of {user.customer_id === user.email ? 'your own account' : 'a team'},
          with the key <code>{user.key}</code>. To act for a team, sign in with a key of the team.
        </p>
      )}
      <Tabs label="Team and keys" tabs={tabs} />
      {tab === 'teams' && <Teams />}
      {tab === 'keys' && <Keys />}
      {tab === 'roles' && <Roles />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'plans' && <Plans />}
      {tab === 'usage' && <Usage />}
    </>
  );
}
