import 'reflect-metadata'
import { Controller, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { RateLimitModule, SkipThrottle, Throttle } from '@sluice/limiter/adapters/nest'

@Controller()
class AppController {
  @Get()
  hello(): object {
    return { hello: 'world' }
  }

  @Throttle({ limit: 5, period: '1m' })
  @Post('login')
  login(): object {
    return { welcome: true }
  }

  @SkipThrottle()
  @Get('health')
  health(): string {
    return 'fine'
  }
}

@Module({
  imports: [RateLimitModule.forRoot({ limit: 100, period: '15m', algorithm: 'sliding-window-counter' })],
  controllers: [AppController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
await app.listen(process.env.PORT ?? 3000)
console.log(await app.getUrl())
