/** Combines the hooks of several modules. */
import type { Hooks } from "./context.ts";

/** They run in the order of the modules. */
export function combineHooks(parts: readonly Partial<Hooks>[]): Hooks {
  return {
    async capacityFreed(...args) {
      for (const { capacityFreed } of parts) {
        await capacityFreed?.(...args);
      }
    },
    async memberAdded(...args) {
      for (const { memberAdded } of parts) {
        await memberAdded?.(...args);
      }
    },
    async templateWithdrawn(...args) {
      for (const { templateWithdrawn } of parts) {
        await templateWithdrawn?.(...args);
      }
    },
    async cohortWithdrawn(...args) {
      for (const { cohortWithdrawn } of parts) {
        await cohortWithdrawn?.(...args);
      }
    },
    async broadcastProgressed(...args) {
      for (const { broadcastProgressed } of parts) {
        await broadcastProgressed?.(...args);
      }
    },
    async walletCredited(...args) {
      for (const { walletCredited } of parts) {
        await walletCredited?.(...args);
      }
    },
    personReplied: (...args) => parts.flatMap(({ personReplied }) => personReplied?.(...args) ?? []),
    async activeRun(...args) {
      for (const { activeRun } of parts) {
        const run = await activeRun?.(...args);
        if (run) {
          return run;
        }
      }
      return null;
    },
    async heldByBot(...args) {
      const held = await Promise.all(parts.map(({ heldByBot }) => heldByBot?.(...args) ?? []));
      return new Set(held.flatMap((ids) => [...ids]));
    },
    async takesMessage(...args) {
      for (const { takesMessage } of parts) {
        if (await takesMessage?.(...args)) {
          return true;
        }
      }
      return false;
    },
    async botIn(...args) {
      for (const { botIn } of parts) {
        const bot = await botIn?.(...args);
        if (bot) {
          return bot;
        }
      }
      return null;
    },
    async conversationsTaken(...args) {
      for (const { conversationsTaken } of parts) {
        await conversationsTaken?.(...args);
      }
    },
    async authorityChanged(...args) {
      for (const { authorityChanged } of parts) {
        await authorityChanged?.(...args);
      }
    },
    async teamDeleted(...args) {
      for (const { teamDeleted } of parts) {
        await teamDeleted?.(...args);
      }
    },
  };
}
