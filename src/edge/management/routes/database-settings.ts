/** Settings of databases: plan, budget, regions and switches. */

import {
  type AuditAction,
  type DatabasePlan,
  type DatabaseSettings,
  databasePlanNamed,
} from '../../../domain/control/index.js';
import { OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid } from '../../http/refused.js';
import type { Method } from '../../http/route.js';
import { DatabaseAnswer, databaseAnswer } from '../answers/database-answer.js';
import { type ManagementRoute, managementRoute } from '../management-call.js';
import { refuseRegionTwice, refuseReplicasOfFree } from '../new-database.js';
import { changedDatabase } from '../owned.js';
import {
  AllowedIpsRequest,
  ChangePlanRequest,
  DatabaseBudgetRequest,
  UpdateRegionsRequest,
} from '../requests/database-requests.js';

export const DATABASE_SETTING_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/kv/enable-tls/:id', {
    summary: 'Says that a database is to be reached by TLS, which it always can be.',
    permission: 'databases:change',
    answer: one(DatabaseAnswer),
    async handle(call, { path }) {
      return databaseAnswer(call, await changedDatabase(call, path.id, 'enableTls', () => ({ settings: {} })));
    },
  }),

  ...switchRoutes('eviction', ['enableEviction', 'disableEviction'], (isEvicting) => ({ isEvicting })),
  ...switchRoutes('autoupgrade', ['enableAutoUpgrade', 'disableAutoUpgrade'], (isAutoUpgrading) => ({
    isAutoUpgrading,
  })),
  ...switchRoutes('prodpack', ['enableProdPack', 'disableProdPack'], (hasProdPack) => ({ hasProdPack })),
  ...switchRoutes(
    'dailybackup',
    ['enableDailyBackup', 'disableDailyBackup'],
    (hasDailyBackup) => ({ hasDailyBackup }),
    // Published clients use different methods.
    ['patch'],
  ),

  managementRoute('POST /v2/kv/:id/change-plan', {
    alsoPaths: ['/v2/kv/change-plan/:id'],
    summary: 'Moves a database to another plan, with its limits.',
    permission: 'billing:change',
    body: ChangePlanRequest,
    example: { plan_name: 'fixed_1gb' },
    answer: OK_ANSWER,
    async handle(call, { path, body }) {
      const plan = planIn(body);
      const changeOf = (settings: DatabaseSettings) => {
        refuseReplicasOfFree(plan, settings.readRegions);
        const { auto_upgrade = settings.isAutoUpgrading, prod_pack_enabled = settings.hasProdPack } = body;
        return { settings: { plan, isAutoUpgrading: auto_upgrade, hasProdPack: prod_pack_enabled } };
      };
      await changedDatabase(call, path.id, 'changePlan', changeOf, plan);
      return OK_TEXT;
    },
  }),

  managementRoute('PATCH /v2/kv/update-budget/:id', {
    summary: 'Sets the monthly budget of a database, in dollars.',
    permission: 'billing:change',
    body: DatabaseBudgetRequest,
    example: { budget: 30 },
    answer: OK_ANSWER,
    async handle(call, { path, body: { budget } }) {
      await changedDatabase(
        call,
        path.id,
        'updateBudget',
        () => ({ settings: { budgetDollars: budget } }),
        String(budget),
      );
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/kv/update-regions/:id', {
    summary: 'Sets all read regions of a database.',
    permission: 'databases:change',
    body: UpdateRegionsRequest,
    example: { read_regions: ['us-west-1'] },
    answer: OK_ANSWER,
    async handle(call, { path, body: { read_regions: readRegions } }) {
      await changedDatabase(
        call,
        path.id,
        'updateRegions',
        ({ primaryRegion, plan }) => {
          refuseRegionTwice(primaryRegion, readRegions);
          refuseReplicasOfFree(plan, readRegions);
          return { settings: { readRegions } };
        },
        readRegions.join(' '),
      );
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/kv/update-allowlist/:id', {
    summary: 'Sets from which IPv4 addresses a database may be used; an empty list: from everywhere.',
    permission: 'databases:change',
    body: AllowedIpsRequest,
    example: { allowed_ips: ['192.0.2.0/24'] },
    answer: OK_ANSWER,
    async handle(call, { path, body: { allowed_ips: allowedIps } }) {
      await changedDatabase(
        call,
        path.id,
        'updateAllowedIps',
        ({ plan }) => {
          if (plan === 'free' && allowedIps.length > 0) throw invalid('allowed_ips is not available on the free plan');
          return { settings: { allowedIps } };
        },
        `${allowedIps.length} addresses`,
      );
      return OK_TEXT;
    },
  }),
];

/** Two routes to switch a setting on and off; both succeed if it already is. */
function switchRoutes(
  feature: string,
  [onAction, offAction]: readonly [AuditAction, AuditAction],
  settingsOf: (isOn: boolean) => Partial<DatabaseSettings>,
  alsoMethods: readonly Method[] = [],
): ManagementRoute[] {
  const switchRoute = (verb: 'enable' | 'disable', isOn: boolean, action: AuditAction) =>
    managementRoute(`POST /v2/kv/${verb}-${feature}/:id`, {
      alsoMethods,
      summary: `Switches ${feature} of a database ${isOn ? 'on' : 'off'}.`,
      permission: feature === 'prodpack' ? 'billing:change' : 'databases:change',
      answer: OK_ANSWER,
      async handle(call, { path }) {
        await changedDatabase(call, path.id, action, () => ({ settings: settingsOf(isOn) }));
        return OK_TEXT;
      },
    });
  return [switchRoute('enable', true, onAction), switchRoute('disable', false, offAction)];
}

/** @throws Refused 400 */
function planIn({ plan_name, plan }: ChangePlanRequest): DatabasePlan {
  const name = plan_name ?? plan;
  if (name === undefined) throw invalid('plan_name: is required');
  const found = databasePlanNamed(name);
  if (found === undefined) throw invalid('plan_name: there is no such plan');
  return found;
}
