/** Alert rules: their readings, and the sending of notices. */
import type { DependencyContainer } from 'tsyringe';
import { AlertNotices, AlertTeller, firingSubjects } from '../actors/alerts/index.js';
import { AuditExporter } from '../actors/audit/index.js';
import { UsageReporter, UsageReports } from '../actors/usage/index.js';
import { readTlsFiles } from '../adapters/node/index.js';
import { triggerDesk } from './queue-module.js';
import * as tokens from './tokens.js';

export function registerAlerts(c: DependencyContainer): void {
  registerUsage(c);
  tokens.once(c, tokens.ALERT_NOTICES, () => {
    const { clock, random } = tokens.portsOf(c);
    const { accounts, view } = c.resolve(tokens.CONTROL);
    const { publicUrlMgmt } = c.resolve(tokens.CONFIG).endpoints;
    return new AlertNotices({
      clock,
      random,
      accounts,
      queues: c.resolve(tokens.QUEUE_GATEWAY),
      destinations: c.resolve(tokens.HTTP_OUT),
      mail: c.resolve(tokens.MAIL_SENDER),
      state: () => view.state,
      consoleUrl: () => publicUrlMgmt ?? c.resolve(tokens.MANAGEMENT_ADDRESS).url,
    });
  });
}

function registerUsage(c: DependencyContainer): void {
  tokens.once(c, tokens.AUDIT_EXPORTER, () => {
    const control = c.resolve(tokens.CONTROL);
    return new AuditExporter({
      ...tokens.portsOf(c),
      accounts: control.accounts,
      queue: c.resolve(tokens.QUEUE_GATEWAY),
      messageLog: c.resolve(tokens.READ_MODELS),
      destinations: c.resolve(tokens.HTTP_OUT),
      state: () => control.view.state,
      isOwner: () => control.isOwner(),
    });
  });
  tokens.once(c, tokens.USAGE_REPORTS, () => {
    const { accounts, view } = c.resolve(tokens.CONTROL);
    return new UsageReports({
      ...tokens.portsOf(c),
      accounts,
      statistics: c.resolve(tokens.STATISTICS),
      queues: c.resolve(tokens.QUEUE_GATEWAY),
      destinations: c.resolve(tokens.HTTP_OUT),
      state: () => view.state,
    });
  });
}

export async function startAlerts(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  const config = c.resolve(tokens.CONFIG);
  const { client: control, view } = c.resolve(tokens.CONTROL);
  const ports = { ...tokens.portsOf(c), state: () => view.state };
  const readModels = c.resolve(tokens.READ_MODELS);
  const readings = {
    ...ports,
    // A killed process stays listed for a while; alone with its own nats-server, its successor would report it.
    cluster: c.resolve(tokens.NATS).isExclusive ? undefined : c.resolve(tokens.CLUSTER_LOOK),
    metrics: c.resolve(tokens.METRICS),
    storage: c.resolve(tokens.STORAGE),
    messageLog: readModels,
    runLog: readModels,
    queues: c.resolve(tokens.QUEUE_GATEWAY),
    triggers: triggerDesk(c),
    auditExports: c.resolve(tokens.AUDIT_EXPORTER),
    copy: tokens.ifRegistered(c, tokens.INSTALLATION_COPY),
    auditFiles: tokens.ifRegistered(c, tokens.AUDIT_FILES),
    certificate: async () => (await readTlsFiles(config.endpoints))?.cert,
  };
  const isOwner = () => c.resolve(tokens.CONTROL).isOwner();
  const notices = c.resolve(tokens.ALERT_NOTICES);
  const firing = (rule: Parameters<typeof firingSubjects>[0]) => firingSubjects(rule, readings);
  await life.run(new AlertTeller({ ...ports, control, notices, isOwner, firing }, config.alerts.alertLookMs));
  await life.run(c.resolve(tokens.AUDIT_EXPORTER));
  await life.run(new UsageReporter({ ...ports, control, isOwner, reports: c.resolve(tokens.USAGE_REPORTS) }));
}
