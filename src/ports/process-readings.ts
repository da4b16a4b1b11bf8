/** Facts about the process and its machine. */
export interface ProcessReadings {
  readonly pid: number;
  /** `linux x64`. */
  readonly platform: string;
  /** The program's path. */
  readonly executable: string;
  readonly machineBytes: number;
  memory(): { readonly heapUsed: number; readonly rss: number };
  /** Microseconds of processor time since the process began. */
  processorTime(): { readonly user: number; readonly system: number };
}
